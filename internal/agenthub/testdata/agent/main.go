// Command agent stands for harvest-agent where its installation is tested: it notes how it was
// started, and waits until it is ended. With "shim" it is left behind by the agent, as the
// shims of commands are. It joins by any token but hvi_expired. Its machine is m1, and none where a
// file "copied" is beside its configuration.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	config := os.Args[len(os.Args)-1]
	if os.Args[1] == "machine" {
		if _, err := os.Stat(filepath.Join(filepath.Dir(config), "copied")); err != nil {
			fmt.Println("m1")
		}
		return
	}
	if os.Args[1] != "shim" {
		join(config)
		shim := exec.Command(os.Args[0], "shim", config)
		shim.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := shim.Start(); err != nil {
			panic(err)
		}
	}
	note, err := os.OpenFile(filepath.Join(filepath.Dir(config), "notes"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(note, "%d %s token=%q\n", os.Getpid(), strings.Join(os.Args[1:], " "), os.Getenv("HARVEST_INSTALL_TOKEN"))
	<-stop
}

// join puts a permanent token into the place of an install token.
func join(config string) {
	text, err := os.ReadFile(config)
	if err != nil {
		panic(err)
	}
	if strings.Contains(string(text), "hvi_expired") {
		fmt.Fprintln(os.Stderr, `level=WARN msg="not connected" error="the server does not take agent_token: it expired"`)
		return
	}
	if place := regexp.MustCompile(`state_dir = "(.*)"`).FindSubmatch(text); place != nil {
		if err := os.WriteFile(filepath.Join(string(place[1]), "machine"), []byte("m1\n"), 0o600); err != nil {
			panic(err)
		}
	}
	joined := regexp.MustCompile(`hvi_\w+`).ReplaceAll(text, []byte("hva_joined"))
	if err := os.WriteFile(config+".joined", joined, 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(config+".joined", config); err != nil {
		panic(err)
	}
}
