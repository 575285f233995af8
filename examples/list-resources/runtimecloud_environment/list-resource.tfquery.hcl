# In a file `NAME.tfquery.hcl`, for `terraform query` (1.14 or newer).
list "runtimecloud_environment" "all" {
  provider = runtimecloud

  # As many as that; 100 if left out.
  limit = 500
}
