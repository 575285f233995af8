# An identity is the id that the host chose; a data source finds it by name.
data "runtimecloud_quota" "team_a" {
  name = "quota-team-a"
}

import {
  to = runtimecloud_quota.team_a
  identity = {
    id = data.runtimecloud_quota.team_a.id
  }
}
