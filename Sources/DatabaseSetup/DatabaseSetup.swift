// DatabaseSetup
