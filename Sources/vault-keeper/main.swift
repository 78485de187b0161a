import KeeperPlacement

KeeperPlacement.main()
