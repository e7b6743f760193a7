"""Replay a finished table of molecules: would suggestions have found the best ones with fewer measurements?"""
