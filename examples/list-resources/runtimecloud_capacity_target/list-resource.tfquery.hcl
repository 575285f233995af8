# In a file `NAME.tfquery.hcl`, for `terraform query` (1.14 or newer).
list "runtimecloud_capacity_target" "here" {
  provider = runtimecloud

  config {
    labels = { region = "here" }
  }
}
