print("sociograph")
