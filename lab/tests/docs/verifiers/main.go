// Runs the verifier of the documentation with the deliveries that come as lines; says for each whether it was accepted.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"receiver/webhook"
)

func decoded(text string) []byte {
	bytes, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return bytes
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), " ")
		now, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			panic(err)
		}
		headers := map[string]string{}
		for _, field := range fields[3:] {
			name, value, _ := strings.Cut(field, ":")
			headers[strings.ToLower(name)] = string(decoded(value))
		}
		header := func(name string) string { return headers[strings.ToLower(name)] }
		event, err := webhook.Verify(decoded(fields[2]), header, string(decoded(fields[0])), time.Unix(now, 0))
		if err != nil {
			fmt.Println("refused")
		} else {
			fmt.Println("accepted", event.ID)
		}
	}
}
