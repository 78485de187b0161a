import PAMHelper

PAMHelper.main(nil, Array(CommandLine.arguments.dropFirst()))
