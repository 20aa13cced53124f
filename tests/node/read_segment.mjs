// Reads a segment of the journal with the indexed reader of @mcap/core, which we did not write, and
// prints what it found as one JSON object: `node read_segment.mjs SEGMENT.mcap`.

import { McapIndexedReader } from "@mcap/core";
import { open } from "node:fs/promises";

const file = await open(process.argv[2], "r");
const readable = {
  async size() {
    return BigInt((await file.stat()).size);
  },
  async read(offset, length) {
    const bytes = new Uint8Array(Number(length));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, Number(offset));
    if (bytesRead !== bytes.length) throw new Error(`cut at ${offset} + ${bytesRead}`);
    return bytes;
  },
};

const reader = await McapIndexedReader.Initialize({ readable });
const topics = {};
const schemas = {};
const text = new TextDecoder("utf-8", { fatal: true });
let messages = 0;
let bytes = 0;
let isOrdered = true;
let last = -1n;
for await (const message of reader.readMessages()) {
  const channel = reader.channelsById.get(message.channelId);
  const schema = reader.schemasById.get(channel.schemaId);
  JSON.parse(text.decode(message.data)); // every record is JSON
  topics[channel.topic] = (topics[channel.topic] ?? 0) + 1;
  schemas[channel.topic] = `${schema?.name} ${schema?.encoding} ${channel.messageEncoding}`;
  messages += 1;
  bytes += message.data.length;
  isOrdered &&= message.logTime >= last;
  last = message.logTime;
}
const attachments = [];
for await (const one of reader.readAttachments()) attachments.push(one.name);
const stated = Number(reader.statistics.messageCount);
console.log(
  JSON.stringify({ messages, stated, bytes, isOrdered, topics, schemas, attachments,
    chunks: reader.chunkIndexes.length, library: reader.header.library, profile: reader.header.profile }),
);
await file.close();
