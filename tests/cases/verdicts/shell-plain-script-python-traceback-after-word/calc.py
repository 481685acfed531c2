import json
print("iteration 1 residual 1e-3")
print("iteration 2 residual 1e-9 converged")
json.load(open("settings.json"))
