import PAMHelper

PAMHelper.main()
