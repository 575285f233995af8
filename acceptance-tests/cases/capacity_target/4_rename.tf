resource "runtimecloud_capacity_target" "here" {
  name     = "there"
  driver   = { process = {} }
  capacity = { cpu = "2", memory = "1Gi" }
  cordoned = true
}
