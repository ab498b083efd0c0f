package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Failure renders the error of an activity for Temporal: an application error typed by the
// domain's code, with the message for people and the cause behind it. Codes that another
// try can't change are not retried; others may say when to try again. Errors that are
// Temporal's already, and cancellations, are left alone.
//
// The worker applies it to everything that activities return.
func Failure(err error) error {
	var application *temporal.ApplicationError
	if err == nil || errors.As(err, &application) || errors.Is(err, activity.ErrResultPending) ||
		errors.Is(err, context.Canceled) || temporal.IsCanceledError(err) {
		return err
	}
	code := domain.CodeOf(err)
	options := temporal.ApplicationErrorOptions{NonRetryable: permanent(code), Cause: err}
	var known *domain.Error
	if errors.As(err, &known) {
		options.NextRetryDelay = known.Wait
	}
	return temporal.NewApplicationErrorWithOptions(domain.PublicMessage(err), string(code), options)
}

// permanent reports whether trying again can't change an error of this code.
func permanent(code domain.Code) bool {
	switch code {
	case domain.CodeRateLimited, domain.CodeOverloaded, domain.CodeTimeout, domain.CodeUnavailable, domain.CodeInternal:
		return false
	}
	return true
}
