terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

provider "runtimecloud" {}

locals {
  shape = { cpu = "500m", memory = "256Mi" }
  size  = 4
}

resource "runtimecloud_quota" "team" {
  name = "fits-team"
  limits = {
    cpu     = { hard = "2" }
    workers = { hard = "4" }
  }
}

resource "runtimecloud_environment" "dev" {
  name  = "fits-dev"
  quota = runtimecloud_quota.team.name

  lifecycle {
    precondition {
      condition     = provider::runtimecloud::fits(local.shape, local.size, runtimecloud_quota.team.limits)
      error_message = "The team's quota has no room for ${local.size} workers."
    }
  }
}
