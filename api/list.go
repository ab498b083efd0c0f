package api

// listed gives a list that clients read as [] where it is empty, never as null.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// listing is listed for what a call gave.
func listing[T any](list []T, err error) ([]T, error) { return listed(list), err }
