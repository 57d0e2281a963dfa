import { expect, test } from "bun:test";
import { nameFromAddress } from "./sharing.ts";

test("all addresses of a repository give one name", () => {
  for (const address of [
    "git@github.com:acme/shop.git",
    "github.com:acme/shop",
    "https://github.com/acme/shop",
    "https://GitHub.com:443/acme/shop.git/",
    "ssh://git@github.com:22/acme/shop.git",
  ])
    expect([address, nameFromAddress(address)]).toEqual([address, "github.com/acme/shop"]);
  expect(nameFromAddress("/srv/git/shop.git")).toBe("shop");
  expect(nameFromAddress("file:///srv/git/shop.git")).toBe("shop");
});

test("no name has a password or a query, however the address is written", () => {
  for (const address of [
    "https://jo:hunter2@github.com/acme/shop.git",
    "https://jo:hun@ter2@github.com/acme/shop",
    "https://hunter2@github.com/acme/shop",
    "https://github.com/acme/shop.git?private_token=hunter2",
    "https://github.com/acme/shop#hunter2",
    "jo:hunter2@github.com:acme/shop",
    "jo@hunter2@github.com:acme/shop",
  ])
    expect([address, nameFromAddress(address)]).toEqual([address, "github.com/acme/shop"]);
});
