package api

import "net/http"

// libraryBody is room for an artifact of the largest size with its escapes.
const libraryBody int64 = 16 << 20

// libraryRoutes are the routes of skills, artifacts and memories.
func (s *Server) libraryRoutes() []route {
	get, post, put, remove := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	return []route{
		{get, "/skills", person, noBody, endpoint(s, http.StatusOK, s.skills)},
		{get, "/skills/:id", person, noBody, endpoint(s, http.StatusOK, s.skill)},
		{get, "/skills/:id/versions", person, noBody, endpoint(s, http.StatusOK, s.skillVersions)},
		{get, "/skills/:id/versions/:version", person, noBody, endpoint(s, http.StatusOK, s.skillVersion)},
		{get, "/skills/:id/diff", person, noBody, endpoint(s, http.StatusOK, s.skillDiff)},
		{post, "/admin/skills", admin, libraryBody, endpoint(s, http.StatusCreated, s.createSkill)},
		{put, "/admin/skills/:id", admin, libraryBody, endpoint(s, http.StatusOK, s.updateSkill)},
		{remove, "/admin/skills/:id", admin, noBody, endpoint(s, http.StatusNoContent, s.deleteSkill)},
		{post, "/admin/skills/:id/versions/:version/restore", admin, noBody, endpoint(s, http.StatusOK, s.restoreSkill)},
		{get, "/projects/:pid/skills", member, noBody, endpoint(s, http.StatusOK, s.skills)},
		{post, "/projects/:pid/skills", member, libraryBody, endpoint(s, http.StatusCreated, s.createSkill)},
		{get, "/projects/:pid/skills/:sid", member, noBody, endpoint(s, http.StatusOK, s.skill)},
		{put, "/projects/:pid/skills/:sid", member, libraryBody, endpoint(s, http.StatusOK, s.updateSkill)},
		{remove, "/projects/:pid/skills/:sid", member, noBody, endpoint(s, http.StatusNoContent, s.deleteSkill)},
		{get, "/projects/:pid/skills/:sid/versions", member, noBody, endpoint(s, http.StatusOK, s.skillVersions)},
		{get, "/projects/:pid/skills/:sid/versions/:version", member, noBody, endpoint(s, http.StatusOK, s.skillVersion)},
		{get, "/projects/:pid/skills/:sid/diff", member, noBody, endpoint(s, http.StatusOK, s.skillDiff)},
		{post, "/projects/:pid/skills/:sid/versions/:version/restore", member, noBody, endpoint(s, http.StatusOK, s.restoreSkill)},

		{get, "/projects/:pid/artifacts", member, noBody, endpoint(s, http.StatusOK, s.artifacts)},
		{post, "/projects/:pid/artifacts", member, libraryBody, endpoint(s, http.StatusCreated, s.createArtifact)},
		{get, "/artifacts/:id", shared, noBody, endpoint(s, http.StatusOK, s.artifact)},
		{put, "/artifacts/:id", shared, libraryBody, endpoint(s, http.StatusOK, s.updateArtifact)},
		{remove, "/artifacts/:id", shared.acts("delete_artifact"), noBody, endpoint(s, http.StatusNoContent, s.deleteArtifact)},
		{get, "/artifacts/:id/download", shared, noBody, endpoint(s, http.StatusOK, s.downloadArtifact)},
		{get, "/artifacts/:id/versions", shared, noBody, endpoint(s, http.StatusOK, s.artifactVersions)},
		{get, "/artifacts/:id/versions/:version", shared, noBody, endpoint(s, http.StatusOK, s.artifactVersion)},
		{post, "/artifacts/:id/versions/:version/restore", shared, noBody, endpoint(s, http.StatusOK, s.restoreArtifact)},
		{get, "/artifacts/:id/diff", shared, noBody, endpoint(s, http.StatusOK, s.artifactDiff)},

		{get, "/projects/:pid/memories", member, noBody, endpoint(s, http.StatusOK, s.memories)},
		{post, "/projects/:pid/memories", member, defaultBody, endpoint(s, http.StatusCreated, s.createMemory)},
		{get, "/projects/:pid/memories/:mid", member, noBody, endpoint(s, http.StatusOK, s.memory)},
		{put, "/projects/:pid/memories/:mid", member, defaultBody, endpoint(s, http.StatusOK, s.updateMemory)},
		{remove, "/projects/:pid/memories/:mid", member, noBody, endpoint(s, http.StatusNoContent, s.deleteMemory)},
	}
}
