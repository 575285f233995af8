# In a file `NAME.tfquery.hcl`, for `terraform query` (1.14 or newer).
list "runtimecloud_service_account" "team_a" {
  provider = runtimecloud

  config {
    labels = { team = "a" }
  }
}
