resource "runtimecloud_quota" "team" {
  name   = "team"
  limits = { workers = { hard = 5 } }

  # Without this, Terraform would delete the quota before it takes the environment off it.
  lifecycle {
    create_before_destroy = true
  }
}

resource "runtimecloud_environment" "dev" {
  name            = "dev"
  quota           = runtimecloud_quota.team.name
  target_selector = { region = "here" }
  description     = "where we try things"
  variables       = { MODE = "dev", EMPTY = "" }
  labels          = { team = "a" }
}
