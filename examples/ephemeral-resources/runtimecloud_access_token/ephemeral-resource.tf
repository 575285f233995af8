terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

# What it makes is good for reading, while this run lasts.
ephemeral "runtimecloud_access_token" "look" {
  role     = "viewer"
  lifetime = "10m"
}

provider "runtimecloud" {
  alias = "looking"
  token = ephemeral.runtimecloud_access_token.look.token
}

resource "runtimecloud_quota" "team" {
  name   = "access-team"
  limits = { workers = { hard = 20 } }
}

data "runtimecloud_quota" "team" {
  provider = runtimecloud.looking
  name     = runtimecloud_quota.team.name
}
