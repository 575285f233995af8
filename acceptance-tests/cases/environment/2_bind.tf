resource "runtimecloud_quota" "team" {
  name   = "team"
  limits = { workers = { hard = "5" } }
}

resource "runtimecloud_environment" "dev" {
  name            = "dev"
  quota           = runtimecloud_quota.team.name
  target_selector = { region = "here" }
  description     = "where we try things"
  variables       = { MODE = "dev", EMPTY = "" }
  labels          = { team = "a" }
}
