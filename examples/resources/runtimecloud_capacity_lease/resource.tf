terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_quota" "team" {
  name   = "lease-team"
  limits = { cpu = { hard = "4" }, "gpu.h100" = { hard = "2" } }
}

resource "runtimecloud_environment" "dev" {
  name  = "lease-dev"
  quota = runtimecloud_quota.team.name
}

# Held until it is destroyed: so much of the quota is nobody else's.
resource "runtimecloud_capacity_lease" "training" {
  name        = "training"
  environment = runtimecloud_environment.dev.name
  amounts     = { cpu = "2", "gpu.h100" = "1" }
  holder      = "team-a"
  purpose     = "nightly training"

  # It may stand in line for ten minutes, before those of a lower priority.
  wait     = "10m"
  priority = 10

  timeouts = { create = "15m" }
}

output "fencing_token" {
  value = runtimecloud_capacity_lease.training.fencing_token
}
