# By name, or by id.
terraform import runtimecloud_quota.team_a quota-team-a
