resource "runtimecloud_quota" "team" {
  name = "team"
  limits = {
    cpu    = { hard = "4" }
    memory = { hard = "1Gi" }
    gpus   = { hard = "1" }
  }
  labels = { team = "a" }
}
