package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/harvest-engine/harvest/internal/domain"
)

// failureReason gives the domain's code and the message for people of an error that an
// activity or a child workflow ended with; "" and "" for nil.
func failureReason(err error) (domain.Code, string) {
	var (
		application *temporal.ApplicationError
		timeout     *temporal.TimeoutError
		terminated  *temporal.TerminatedError
	)
	switch {
	case err == nil:
		return "", ""
	case temporal.IsCanceledError(err):
		return domain.CodeCanceled, "it was canceled"
	case errors.As(err, &application):
		return domain.Code(application.Type()), application.Message()
	case errors.As(err, &timeout):
		return domain.CodeTimeout, "no worker finished it within the time limit"
	case errors.As(err, &terminated):
		return domain.CodeCanceled, "its workflow was terminated"
	default:
		return domain.CodeInternal, "something went wrong on our side; the log holds the details"
	}
}
