// A relay for UDP that shares its rate fairly between senders: relay PORT TO_PORT MBIT_PER_S.
package main

import (
	"fmt"
	"hash/maphash"
	"net"
	"os"
	"strconv"

	fairwire "github.com/fairwire/fairwire/go"
)

type datagram struct {
	from  string
	bytes []byte
}

type out struct{ conn net.Conn }

func (o out) WritePacket(d datagram, mark bool) error {
	_, err := o.conn.Write(d.bytes)
	return err
}

func main() {
	if err := relay(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
}

func relay(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: relay PORT TO_PORT MBIT_PER_S")
	}
	mbit, err := strconv.ParseUint(args[2], 10, 32)
	if err != nil {
		return err
	}
	in, err := net.ListenPacket("udp", "127.0.0.1:"+args[0])
	if err != nil {
		return err
	}
	to, err := net.Dial("udp", "127.0.0.1:"+args[1])
	if err != nil {
		return err
	}
	queue, err := fairwire.New("faba", "", fairwire.Site{Rate: mbit * 1e6, Buffer: "100 ms", Seed: 1})
	if err != nil {
		return err
	}
	seed := maphash.MakeSeed()
	link := fairwire.NewQdisc(fairwire.Config[datagram]{
		Queue: queue, Link: out{to}, Rate: mbit * 1e6,
		Describe: func(d datagram) fairwire.Packet {
			return fairwire.Packet{Flow: maphash.String(seed, d.from), Len: uint64(len(d.bytes)) + 42}
		},
	})
	defer link.Close()
	for {
		bytes := make([]byte, 2048)
		n, from, err := in.ReadFrom(bytes)
		if err != nil {
			return err
		}
		if err := link.WritePacket(datagram{from.String(), bytes[:n]}); err != nil {
			return err
		}
	}
}
