resource "runtimecloud_capacity_target" "here" {
  name     = "here"
  driver   = { process = {} }
  capacity = { cpu = "1500m", memory = "1Gi", gpus = "2" }
  cordoned = false
  labels   = { tier = "one", region = "here" }
}

resource "runtimecloud_capacity_target" "bare" {
  name   = "bare"
  driver = { process = {} }
}
