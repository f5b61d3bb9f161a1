from fogplay.cli import main

main()
