resource "runtimecloud_quota" "team" {
  name = "team"
  limits = {
    cpu     = { hard = "0.5" }
    memory  = { soft = "512Mi", hard = "1Gi" }
    workers = { soft = "3" }
  }
}
