package api

import (
	_ "embed"
	"net/http"

	"github.com/gin-gonic/gin"
)

//go:embed openapi.yaml
var openAPI []byte

// describeAPI answers GET /openapi.yaml.
func (s *Server) describeAPI(c *gin.Context) {
	c.Header("Content-Type", "application/yaml")
	writeRaw(c, raw{json: openAPI}, http.StatusOK)
}
