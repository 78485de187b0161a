import PAMHelper

PAMHelper.main(nil, PAMHelper.arguments)
