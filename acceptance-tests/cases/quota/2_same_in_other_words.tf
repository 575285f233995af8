resource "runtimecloud_quota" "team" {
  name = "team"
  limits = {
    cpu     = { hard = "500m" }
    memory  = { soft = "524288Ki", hard = "1024Mi" }
    workers = { soft = "3" }
  }
}
