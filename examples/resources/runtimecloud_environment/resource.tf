terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_capacity_target" "local" {
  name   = "environment-local"
  driver = { process = {} }
  labels = { region = "here" }
}

resource "runtimecloud_quota" "team_a" {
  name   = "environment-team-a"
  limits = { workers = { hard = 20 } }
}

resource "runtimecloud_environment" "dev" {
  name            = "environment-dev"
  description     = "Where team A tries things out"
  quota           = runtimecloud_quota.team_a.name
  target_selector = { region = "here" }
  variables       = { STAGE = "dev" }
  depends_on      = [runtimecloud_capacity_target.local]
}
