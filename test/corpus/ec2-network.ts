import type { Case } from "./case.ts";
import { accept, atMost, field, list, range, refuse } from "./ec2-table.ts";

/** Network cards and how long connections are remembered. (01:EC22, EC23) */

const cards = field("spec.networkInterfaces");
const card = (networkCardIndex: number, deviceIndex: number, interfaceType: string) => ({
  networkCardIndex,
  deviceIndex,
  interfaceType,
});
const primary = card(0, 0, "interface");

export const networkInterfaceCases: readonly Case[] = [
  ...cards.accepts({
    "01:EC22 no interfaces": [],
    "01:EC22 the primary interface alone": [primary],
    "01:EC22 the primary interface last": [card(1, 1, "efa-only"), primary],
    "01:EC22 several cards": [primary, card(0, 1, "efa-only"), card(1, 0, "interface"), card(1, 1, "efa-only")],
    "01:EC22 a card with several plain interfaces": [primary, card(0, 1, "interface"), card(0, 2, "interface")],
    "01 §1.6.1 the largest card number of 32 bits": [primary, card(2_147_483_647, 0, "interface")],
  }),
  ...cards.refuses({
    "01 §1.6.1 a card number beyond 32 bits": [primary, card(2_147_483_648, 0, "interface")],
    "01 §1.6.1 a device number beyond 32 bits": [primary, card(0, 2_147_483_648, "interface")],
    "01:EC22 no primary interface": [card(1, 0, "interface")],
    "01:EC22 card 0 without device 0": [card(0, 1, "interface")],
    "01:EC22 the primary interface carries EFA alone": [card(0, 0, "efa-only")],
    "01:EC22 the same device twice": [primary, card(1, 1, "interface"), card(1, 1, "efa-only")],
    "01:EC22 the primary interface twice": [primary, primary],
    "01:EC22 two efa-only interfaces on a card": [primary, card(1, 0, "efa-only"), card(1, 1, "efa-only")],
    "01 §1.6.1 a negative card": [primary, card(-1, 0, "interface")],
    "01 §1.6.1 a negative device": [primary, card(0, -1, "interface")],
    "01 §1.6.1 interface type efa": [primary, card(0, 1, "efa")],
    "01 §1.6.1 an empty interface type": [card(0, 0, "")],
    "01 §1.6.1 an interface without a card": [primary, { deviceIndex: 1, interfaceType: "interface" }],
    "01 §1.6.1 an interface without a device": [primary, { networkCardIndex: 1, interfaceType: "interface" }],
    "01 §1.6.1 an interface without a type": [primary, { networkCardIndex: 1, deviceIndex: 1 }],
    "01 §0.1 null for a card counts as absent": [
      primary,
      { networkCardIndex: null, deviceIndex: 1, interfaceType: "interface" },
    ],
  }),
  ...atMost("spec.networkInterfaces", {
    most: 150,
    of: (count) => list(count, (index) => card(index, 0, "interface")),
  }),
];

export const connectionTrackingCases: readonly Case[] = [
  accept("01:EC23 connection tracking left alone", { "spec.connectionTracking": undefined }),
  accept("01:EC23 all three timeouts", {
    "spec.connectionTracking": { tcpEstablishedTimeout: 3600, udpStreamTimeout: 120, udpTimeout: 45 },
  }),
  refuse("01:EC23 no timeout", { "spec.connectionTracking": {} }),
  refuse("01:EC23 null for the only timeout", { "spec.connectionTracking": { udpTimeout: null } }),
  refuse("01:EC23 an unknown timeout alone", { "spec.connectionTracking": { icmpTimeout: 30 } }),
  ...range("spec.connectionTracking.tcpEstablishedTimeout", { min: 60, max: 432_000 }),
  ...range("spec.connectionTracking.udpStreamTimeout", { min: 60, max: 180 }),
  ...range("spec.connectionTracking.udpTimeout", { min: 30, max: 60 }),
];
