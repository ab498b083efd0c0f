package pg

import (
	"errors"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/harvest-engine/harvest/internal/domain"
)

// fault makes an unavailable error of one by which the database says that it is away or has
// no room: trying again later can help. Others are left as they are.
func fault(err error) error {
	var known *domain.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		switch {
		case server.Code == "53100":
			return domain.Wrap(domain.CodeUnavailable, err, "the disk of the database is full; make room on it, and this goes on by itself")
		case server.Code[:2] == "53", server.Code[:2] == "08", server.Code == "57P01", server.Code == "57P02", server.Code == "57P03":
			return domain.Wrap(domain.CodeUnavailable, err, "the graph's database does not answer")
		case server.Code == "40001", server.Code == "40P01":
			return domain.Wrap(domain.CodeUnavailable, err, "the graph's database was in the middle of something else")
		}
		return err
	}
	var connect *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connect) || errors.As(err, &network) && !network.Timeout() {
		return domain.Wrap(domain.CodeUnavailable, err, "the graph's database does not answer")
	}
	return err
}
