# In a file `NAME.tfquery.hcl`, for `terraform query` (1.14 or newer).
list "runtimecloud_capacity_lease" "dev" {
  provider = runtimecloud

  # With all their values, and not only ids and names.
  include_resource = true

  config {
    environment = "dev"
    labels      = { team = "a" }
  }
}
