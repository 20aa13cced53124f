// A verifier of the sealed journal, written from docs/journal.md and the MCAP specification alone.
//   node verify.mjs [--key HEX|FILE] [--zstd PROGRAM] [--json] PATH...
// PATH is a segment file or a journal's folder. Exit 0 for whole and power-cut, 1 for every other
// verdict, 2 for wrong use. Node.js 20.15 or newer; `zstd` unpacks where Node.js itself cannot.
import { spawnSync } from "node:child_process";
import { createHash, createPublicKey, verify as signatureHolds } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import zlib from "node:zlib";

const MAGIC = Buffer.from("894d434150300d0a", "hex");
const WORST = ["whole", "power-cut", "incomplete", "unreadable", "tampered"];
const [SECTOR, MOST_BYTES, WINDOW_BYTES, LINE_BYTES] = [512, 2 ** 28, 2 ** 23, 4096];
const [SEAL, LINE] = ["sledwarden seal 1\n", "sledwarden ledger 1\n"];
const words = (text) => text.split(" ");
const SEGMENT_KEYS = words("public_key unit boot boot_id segment previous");
const SEAL_KEYS = words("format kind unit boot boot_id segment count bytes durable digest previous log_time_ns publish_time_ns public_key signature");
const LINE_KEYS = words("kind format count previous unit public_key time_ns");
const KIND_KEYS = {
  boot: words("boot boot_id segment software digest note"),
  segment: words("boot boot_id segment verdict seals records events from_ns to_ns digest raw_bytes raw_sha256 stored stored_bytes stored_sha256"),
  tombstone: words("boot boot_id segment line digest stored_sha256 why by"), key: words("new_key by"),
};

const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const hex = (octets) => sha256(octets).toString("hex");
const isHex = (text, digits) => typeof text === "string" && text.length === digits && /^[0-9a-f]*$/.test(text);
const worst = (verdicts) => WORST[Math.max(0, ...verdicts.map((one) => WORST.indexOf(one)))];
const fingerprint = (key) => hex(Buffer.from(key, "hex")).slice(0, 16).match(/.{4}/g).join("-");
const [least, most] = [(one, other) => one < other, (one, other) => one > other].map((isIt) => (numbers) =>
  numbers.reduce((one, other) => (isIt(one, other) ? one : other)));
const total = (parts) => parts.reduce((sum, part) => sum + part.length, 0);

class WrongUse extends Error {}
class Unreadable extends Error { constructor(offset, what) { super(what); this.offset = offset; } }

function parsed(octets) { try { return JSON.parse(octets.toString()) ?? undefined; } catch { return undefined; } }
/** Whether the text ends in its own signature: of what it is without it, by the key in it. */
function isSigned(prefix, octets, { public_key: publicKey, signature } = {}) {
  const end = `"signature":"${signature}"}`;
  if (!isHex(publicKey, 64) || !isHex(signature, 128) || !octets.subarray(-end.length).equals(Buffer.from(end))) return false;
  const signed = Buffer.concat([Buffer.from(prefix), octets.subarray(0, -130), Buffer.from('"}')]);
  const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey, "hex").toString("base64url") };
  try { return signatureHolds(null, signed, createPublicKey({ format: "jwk", key: jwk }), Buffer.from(signature, "hex")); } catch { return false; }
}

/** The seal in a message's bytes, or the text of what is wrong with it by itself. */
function readSeal(octets) {
  const seal = parsed(octets);
  if (typeof seal !== "object") return "a seal is no JSON object";
  const form = JSON.stringify(Object.fromEntries(SEAL_KEYS.map((key) => [key, seal[key]])));
  if (!Buffer.from(form).equals(octets)) return "a seal is not in the one form that its values give";
  const isFormed = seal.format === 1 && words("start event time close finish").includes(seal.kind)
    && words("unit boot_id").every((key) => typeof seal[key] === "string")
    && words("boot segment count bytes durable").every((key) => Number.isSafeInteger(seal[key]) && seal[key] >= 0)
    && words("log_time_ns publish_time_ns").every((key) => /^(0|[1-9][0-9]*)$/.test(seal[key]))
    && isHex(seal.digest, 64) && (seal.previous === "" || isHex(seal.previous, 64));
  if (!isFormed) return "a seal has a value that no seal has";
  return isSigned(SEAL, octets, seal) ? seal : "a seal's signature is false";
}
const sameSegment = (one, other) => SEGMENT_KEYS.every((key) => one[key] === other[key]);
/** What is wrong with a well signed seal at its place; undefined where it holds. */
function misplaced(seal, message, chunk, before, digest) {
  if (!sameSegment(seal, before[0] ?? seal)) return "a seal is of another key, unit, boot or segment than the first";
  if (seal.count !== before.length + 1) return `a seal's count is not ${before.length + 1}`;
  if (seal.bytes !== chunk.start) return "a seal stands elsewhere than it says";
  if (message.sequence !== seal.count % 2 ** 32) return "a seal's sequence is not its count";
  const times = [String(message.logTime), String(message.publishTime)];
  if (times[0] !== seal.log_time_ns || times[1] !== seal.publish_time_ns) return "a seal's times are not its message's";
  return seal.digest === digest.toString("hex") ? undefined : "the bytes before a seal are not those that it sealed";
}
/** The well signed seals whose text stands anywhere from `from` on, in a readable place or not. */
function* looseSeals(file, from) {
  for (let at = from; (at = file.indexOf('{"format":1,"kind":"', at)) >= 0; at++) {
    const seal = readSeal(file.subarray(at, file.indexOf('"signature":"', at) + 143));
    if (typeof seal === "object") yield seal;
  }
}

const [u16, u32, u64] = [2, 4, 8].map((bytes) => (value) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer, 0, bytes));
const pairs = (entries) => Buffer.concat([u32(total(entries.flat())), ...entries.flat()]);
const record = (opcode, ...fields) => Buffer.concat([Buffer.from([opcode]), u64(total(fields)), ...fields]);

/** The record at `at` (its file's byte is `offset` later): where it and its content begin and end. */
function recordAt(octets, at, offset = 0) {
  const length = at + 9 > octets.length ? undefined : octets.readBigUInt64LE(at + 1);
  if (length === undefined || length > BigInt(octets.length - at - 9)) throw new Unreadable(at + offset, "a record is cut");
  return { opcode: octets[at], start: at, begin: at + 9, end: at + 9 + Number(length) };
}
function readAttachment(file, { start, begin, end }) {
  const names = begin + 16;
  const nameEnd = names + 4 + file.readUInt32LE(names), typeEnd = nameEnd + 4 + file.readUInt32LE(nameEnd);
  const size = Number(file.readBigUInt64LE(typeEnd));
  if (typeEnd + 8 + size + 4 !== end) throw new Unreadable(start, "an attachment has another length than it says");
  if (zlib.crc32(file.subarray(begin, end - 4)) !== file.readUInt32LE(end - 4)) throw new Unreadable(start, "an attachment is not what its checksum says");
  return { start, length: end - start, size, times: file.subarray(begin, names), names: file.subarray(names, typeEnd) };
}
/** What a chunk holds, once its record is what its content gives; and the indexes it must have. */
function readChunk(file, { start, begin, end }) {
  if (end - begin < 40) throw new Unreadable(start, "a chunk is too short");
  const content = file.subarray(begin + 40, end);
  const chunk = { start, end, content, schemas: [], channels: [], messages: [], index: new Map() };
  for (let at = 0; at < content.length;) {
    const inner = recordAt(content, at, begin + 40), field = inner.begin;
    if (inner.opcode === 5 && inner.end - field >= 22) {
      const [channel, sequence] = [content.readUInt16LE(field), content.readUInt32LE(field + 2)];
      const [logTime, publishTime] = [6, 14].map((shift) => content.readBigUInt64LE(field + shift));
      const message = { at, channel, sequence, logTime, publishTime, text: content.subarray(field + 22, inner.end) };
      chunk.messages.push(message);
      chunk.index.set(channel, chunk.index.get(channel) ?? []).get(channel).push(message);
    } else if ([3, 4].includes(inner.opcode) && chunk.messages.length === 0) {
      (inner.opcode === 3 ? chunk.schemas : chunk.channels).push(content.subarray(at, inner.end));
    } else throw new Unreadable(start, "a chunk holds what no chunk of a journal holds");
    at = inner.end;
  }
  if (chunk.messages.length === 0) throw new Unreadable(start, "a chunk has no message");
  const times = chunk.messages.map((one) => one.logTime);
  [chunk.from, chunk.to] = [least(times), most(times)];
  const size = u64(content.length);
  const made = record(6, u64(chunk.from), u64(chunk.to), size, u32(zlib.crc32(content)), u32(0), size, content);
  chunk.isMade = made.equals(file.subarray(start, end));
  chunk.indexes = [...chunk.index].map(([channel, messages]) =>
    record(7, u16(channel), pairs(messages.map((one) => [u64(one.logTime), u64(one.at)]))));
  chunk.whole = end + total(chunk.indexes);
  return chunk;
}
/** The ending that these chunks and attachments give, to begin at `at`. */
function ending(at, chunks, attachments) {
  const [schemas, channels, messages] = words("schemas channels messages").map((key) => chunks.flatMap((one) => one[key]));
  const counts = new Map();
  for (const { channel } of messages) counts.set(channel, (counts.get(channel) ?? 0) + 1);
  const [from, to] = [least(chunks.map((one) => one.from)), most(chunks.map((one) => one.to))];
  const statistics = record(11, u64(messages.length), u16(schemas.length), u32(channels.length), u32(attachments.length),
    u32(0), u32(chunks.length), u64(from), u64(to), pairs([...counts].map(([channel, count]) => [u16(channel), u64(count)])));
  const placesIn = ({ index, indexes, end }) => [...index.keys()].map((channel, nth) => [u16(channel), u64(end + total(indexes.slice(0, nth)))]);
  const chunkIndexes = chunks.map((one) => record(8, ...[one.from, one.to, one.start, one.end - one.start].map(u64), pairs(placesIn(one)),
    u64(one.whole - one.end), u32(0), u64(one.content.length), u64(one.content.length)));
  const attachmentIndexes = attachments.map((one) => record(10, u64(one.start), u64(one.length), one.times, u64(one.size), one.names));
  const dataEnd = record(15, u32(0));
  const groups = [[3, schemas], [4, channels], [11, [statistics]], [8, chunkIndexes], [10, attachmentIndexes], [13, []]];
  let place = at + dataEnd.length;
  const offsets = groups.map(([opcode, records]) => {
    place += total(records);
    return record(14, Buffer.from([opcode]), u64(place - total(records)), u64(total(records)));
  });
  const summary = Buffer.concat([...groups.flatMap(([, records]) => records), ...offsets,
    Buffer.from([2]), u64(20), u64(at + dataEnd.length), u64(place)]);
  return Buffer.concat([dataEnd, summary, u32(zlib.crc32(summary)), MAGIC]);
}

/** The verdict of one sealed file by itself, its seals that hold, and why. */
function judge(file) {
  const found = { seals: [], records: 0, reasons: [] };
  const say = (verdict, offset, what) => Object.assign(found, { verdict, reasons: what ? [{ offset, what }] : [] });
  const tampered = (offset, what) => (found.seals.length > 0 || !looseSeals(file, 0).next().done
    ? say("tampered", offset, what) : say("unreadable", offset, `holds no good seal: ${what}`));
  let chunks = [], attachments = [], sealedTo = 0, digest = Buffer.alloc(32), at = MAGIC.length, unsealed = 0, doubt;
  try {
    if (!file.subarray(0, at).equals(MAGIC)) throw new Unreadable(0, "does not begin as an MCAP file");
    const header = recordAt(file, at);
    if (header.opcode !== 1) throw new Unreadable(at, "has no header");
    const isOurs = file.subarray(header.begin, header.begin + 14).equals(Buffer.from("\n\0\0\0sledwarden"));
    for (at = recordAt(file, at).end; ;) {
      if (at === file.length) throw new Unreadable(at, "ends without an ending");
      const next = recordAt(file, at);
      if (next.opcode === 7 && doubt !== undefined) { at = next.end; continue; }
      if (next.opcode === 15 && doubt === undefined) return tampered(at, "has an ending, and no closing seal before it");
      if (next.opcode === 9 && chunks.length === 0) { attachments.push(readAttachment(file, next)); at = next.end; continue; }
      if (next.opcode !== 6) throw new Unreadable(at, "has a record that no journal has there");
      const chunk = readChunk(file, next);
      chunks.push(chunk);
      if (!chunk.isMade) doubt ??= new Unreadable(at, "a chunk is not what its content gives");
      const records = chunk.messages.filter((one) => one.channel > 2).length;
      const sealing = chunk.messages.find((one) => one.channel === 1);
      if (sealing !== undefined) {
        if (chunk.messages.length !== 1) return tampered(at, "a seal is not alone in its chunk");
        digest = sha256(digest, sha256(file.subarray(sealedTo, at)));
        sealedTo = at;
        const seal = readSeal(sealing.text);
        const wrong = typeof seal === "string" ? seal : misplaced(seal, sealing, chunk, found.seals, digest) ?? (isOurs ? undefined : "is sealed, but its profile is not sledwarden");
        if (wrong !== undefined && doubt !== undefined) throw doubt;
        if (wrong !== undefined) return tampered(at, wrong);
        doubt = chunk.isMade ? undefined : new Unreadable(at, "a seal's chunk is not what its content gives");
        found.seals.push(seal);
        [found.records, unsealed] = [found.records + unsealed, 0];
        if (doubt === undefined && ["close", "finish"].includes(seal.kind)) return holdTail(file, next.end, [...chunk.indexes, ending(chunk.whole, chunks, attachments)], seal.kind, say);
      }
      unsealed += records;
      at = next.end;
      if (Buffer.concat(chunk.indexes).equals(file.subarray(at, chunk.whole))) at = chunk.whole;
      else doubt ??= new Unreadable(at, "a chunk's indexes are not what its content gives");
    }
  } catch (fault) {
    if (!(fault instanceof Unreadable || fault instanceof RangeError)) throw fault;
    const first = doubt ?? (fault instanceof Unreadable ? fault : new Unreadable(at, "a record is cut"));
    return afterUnreadable(file, first, found.seals, tampered, say);
  }
}
/** What follows a closing seal's chunk: its indexes and the ending, cut, or with lost sectors. */
function holdTail(file, at, parts, kind, say) {
  const tail = Buffer.concat(parts);
  if (file.length > at + tail.length) return say("tampered", at + tail.length, "bytes follow the ending");
  let lostAt;
  for (let sector = at - (at % SECTOR); sector < file.length; sector += SECTOR) {
    const begin = Math.max(sector, at), end = Math.min(sector + SECTOR, file.length);
    if (file.subarray(begin, end).equals(tail.subarray(begin - at, end - at))) continue;
    if (file.subarray(sector, end).some((octet) => octet !== 0)) return say("tampered", begin, "the ending is not what the chunks give");
    lostAt ??= begin;
  }
  if (file.length < at + tail.length) return say("power-cut", file.length, "the ending is cut");
  if (lostAt !== undefined) return say("power-cut", lostAt, "the ending has sectors of zeros");
  return kind === "finish" ? say("power-cut", at, "was torn, and finished at a later start") : say("whole");
}
/** The verdict of a file that cannot be read from a place on. */
function afterUnreadable(file, { offset, message: what }, seals, tampered, say) {
  const isSynced = [...looseSeals(file, offset)].some((seal) => sameSegment(seal, seals[0] ?? seal) && seal.durable > offset);
  if (isSynced) return tampered(offset, `${what}, and a later seal has it as synced`);
  if (file.length >= 16 && file.subarray(-8).equals(MAGIC)) return say("tampered", offset, `${what}, and the file has its last bytes without its closing seal`);
  return seals.length === 0 ? say("unreadable", offset, `holds no whole seal: ${what}`) : say("power-cut", offset, `${what}, after seal ${seals.length}`);
}

/** What makes a file another thing than one Zstandard frame (RFC 8878) as a journal has it. */
function frameFault(octets) {
  try {
    if (octets.readUInt32LE(0) !== 0xfd2fb528) return "is no Zstandard frame";
    const [descriptor, shape] = octets.subarray(4);
    const isSingle = (descriptor & 32) !== 0, sizeFlag = descriptor >> 6, wide = [1, 2, 4, 8][sizeFlag];
    if ((descriptor & 4) === 0) return "has no checksum";
    if (sizeFlag === 0 && !isSingle) return "has no content size";
    let at = (isSingle ? 5 : 6) + [0, 1, 2, 4][descriptor & 3];
    const size = (wide === 8 ? Number(octets.readBigUInt64LE(at)) : octets.readUIntLE(at, wide)) + (wide === 2 ? 256 : 0);
    const window = isSingle ? size : 2 ** (10 + (shape >> 3)) * (1 + (shape & 7) / 8);
    if (size > MOST_BYTES) return "would unpack to more than 256 MiB";
    if (window > WINDOW_BYTES) return "has a window of more than 8 MiB";
    at += wide;
    for (let block = 0; (block & 1) === 0; at += 3 + ((block & 6) === 2 ? 1 : block >> 3)) block = octets.readUIntLE(at, 3);
    if (at + 4 !== octets.length) return at + 4 < octets.length ? "something follows its frame" : "is cut";
    return undefined;
  } catch (fault) { if (fault instanceof RangeError) return "is cut"; throw fault; }
}
/** The sealed bytes of a segment's file, or its `fault`, or why it is `unopened` here. */
function unpacked(path, octets, zstd) {
  if (path.endsWith(".age")) return { unopened: "encrypted: not opened" };
  if (!path.endsWith(".zst")) return { sealed: octets };
  const fault = frameFault(octets);
  if (fault !== undefined) return { fault };
  if (zlib.zstdDecompressSync !== undefined && zstd === undefined) {
    try { return { sealed: zlib.zstdDecompressSync(octets, { maxOutputLength: MOST_BYTES }) }; } catch { return { fault: "cannot be unpacked" }; }
  }
  const done = spawnSync(zstd ?? "zstd", words("-d -c -q"), { input: octets, maxBuffer: MOST_BYTES + 1 });
  if (done.error?.code === "ENOENT") return { unopened: "stored: not unpacked" };
  return done.status === 0 ? { sealed: done.stdout } : { fault: "cannot be unpacked" };
}

/** What is wrong with a line, after the lines before it, under the key in force. */
function lineFault(octets, line, lines, previous, key) {
  if (octets.length > LINE_BYTES) return "is longer than 4,096 bytes";
  if (typeof line !== "object") return "is no JSON object";
  const own = KIND_KEYS[line.kind];
  if (own === undefined) return "is of no known kind";
  if (Object.keys(line).join() !== [...LINE_KEYS, ...own, "signature"].join()) return "has other keys than its kind, or in another order";
  if (line.format !== 1 || line.count !== lines.length + 1) return "has another format or count than is due";
  if (line.previous !== previous) return "does not follow the line before it";
  if (line.unit !== (lines[0] ?? line).unit) return "is of another unit";
  if (line.public_key !== (key ?? line.public_key)) return "is signed with a key that is not in force";
  return isSigned(LINE, octets, line) ? undefined : "has a false signature";
}
/** The ledger's lines up to the first that does not hold, the keys in force, and what is wrong. */
function readLedger(octets) {
  const ledger = { name: "ledger.jsonl", lines: [], keys: [] };
  const rows = octets.toString("latin1").split("\n").slice(0, -1).map((row) => Buffer.from(row, "latin1"));
  let previous = "";
  for (const [nth, row] of rows.entries()) {
    const line = parsed(row), wrong = lineFault(row, line, ledger.lines, previous, ledger.keys.at(-1));
    if (wrong !== undefined) {
      const hasZeros = octets.subarray(total(rows.slice(0, nth)) + nth).includes(0);
      const hasLater = rows.slice(nth + 1).some((later) => isSigned(LINE, later, parsed(later)));
      return hasZeros && !hasLater ? ledger : Object.assign(ledger, { fault: `line ${nth + 1} ${wrong}` });
    }
    ledger.lines.push(line);
    ledger.keys.push(line.public_key, line.kind === "key" ? line.new_key : line.public_key);
    previous = hex(row);
  }
  return ledger;
}
/** Holds the segments of a folder against its ledger, and each against the one before it. */
function holdFolder(segments, ledger, blame) {
  const lines = (kind) => ledger.lines.filter((line) => line.kind === kind);
  const nameOf = (one) => `${one.boot}/${one.segment}`;
  const deleted = lines("tombstone"), here = new Map(segments.map((one) => [nameOf(one), one]));
  const told = new Map(lines("segment").map((line) => [nameOf(line), line]));
  for (const line of deleted) {
    const of = ledger.lines[line.line - 1], keys = words("boot boot_id segment digest stored_sha256");
    if (of?.kind !== "segment" || keys.some((key) => of[key] !== line[key])) blame(ledger, "tampered", `line ${line.count} deletes what line ${line.line} does not tell of`);
  }
  for (const [name, line] of told) {
    const one = here.get(name) ?? { name: line.stored }, by = `line ${line.count} of the ledger`;
    if (deleted.some((other) => other.line === line.count)) continue;
    const [length, digest] = one.isStored ? [line.stored_bytes, line.stored_sha256] : [line.raw_bytes, line.raw_sha256];
    if (one.octets === undefined) blame(one, "incomplete", `is not here, and ${by} tells of it`);
    else if (one.octets.length !== length || hex(one.octets) !== digest) blame(one, "tampered", `is not the file that ${by} tells of`);
    else if (one.unopened !== undefined) Object.assign(one, { verdict: line.verdict, records: line.records, last: line.digest });
    else if (one.last !== line.digest) blame(one, "tampered", `ends with another seal than ${by} tells of`);
  }
  for (const one of segments) {
    const line = told.get(nameOf(one)), { other } = one, [, number, id] = /([0-9]{6,})-([0-9a-f]{8})$/.exec(dirname(one.path)) ?? [];
    if (one.isStored && line === undefined) blame(one, "incomplete", "is stored, and no line of the ledger tells of it");
    if (other !== undefined && (line ? hex(other.octets) !== line.stored_sha256 : !other.unopened && !other.sealed?.equals(one.octets))) blame(one, "tampered", "stands in two forms, which differ");
    const file = number && /([0-9]{6,})\.mcap/.exec(basename(one.path))?.[1];
    if (one.seals?.length > 0 && file && Number(file) !== one.segment) blame(one, "tampered", `was sealed as segment ${one.segment}`);
    if (one.seals?.length > 0 && number && (Number(number) !== one.boot || !one.seals[0].boot_id.startsWith(id))) blame(one, "tampered", "is in a folder of another boot");
  }
  for (const line of lines("boot")) {
    const first = here.get(nameOf(line)), by = `line ${line.count} of the ledger`;
    if (![...segments, ...deleted].some((one) => one.boot === line.boot)) blame({ name: `boot ${line.boot}` }, "incomplete", `is not here, and ${by} tells of it`);
    if ((first?.seals?.[0] ?? line).digest !== line.digest) blame(first, "tampered", `begins with another seal than ${by} tells of`);
  }
  for (const [nth, one] of segments.entries()) {
    const before = segments[nth - 1], previous = one.seals?.[0]?.previous;
    if (previous === undefined || deleted.some((line) => line.digest === previous)) continue;
    if (before === undefined && previous !== "") blame(one, "incomplete", "the segments before it are missing");
    // What was changed tells no end: by its line, else not at all.
    const end = before && (told.get(nameOf(before))?.digest ?? (["tampered", "unreadable"].includes(before.own) ? undefined : before.last));
    if (end === undefined || end === previous) continue;
    const hasRoom = one.boot > before.boot || one.segment > before.segment + 1;
    if (hasRoom && previous !== "" && ["close", "finish", undefined].includes(before.seals?.at(-1).kind)) blame(one, "incomplete", "a segment before it is missing");
    else blame(one, "tampered", "the segment before it did not end with the seal that it names");
  }
}

/** The segments' files in a folder and its boots: of each the sealed form, and the other if there is one. */
function filesIn(folder) {
  const forms = new Map(), within = (path) => readdirSync(path).sort().map((name) => join(path, name));
  for (const path of [folder, ...within(folder).filter((one) => statSync(one).isDirectory())].flatMap(within)) {
    const stem = /^(.*\/[0-9]{6,})\.mcap(\.zst(\.age)?)?$/.exec(path)?.[1];
    if (stem !== undefined) forms.set(stem, [...(forms.get(stem) ?? []), path]);
  }
  return [...forms.values()];
}
function readSegment([path, otherPath], { zstd }) {
  const octets = readFileSync(path), { sealed, fault, unopened } = unpacked(path, octets, zstd);
  const one = { name: join(basename(dirname(path)), basename(path)), octets, isStored: !path.endsWith(".mcap"), unopened, path };
  const other = otherPath && readFileSync(otherPath);
  if (other) one.other = { octets: other, ...unpacked(otherPath, other, zstd) };
  Object.assign(one, sealed ? judge(sealed) : { verdict: "unreadable", records: 0, reasons: [{ what: fault ?? unopened }] });
  one.own = one.verdict;
  const [, boot, segment] = /(\d+)-[^/]*\/(\d+)\./.exec(one.name) ?? [];
  const first = one.seals?.[0] ?? { boot: Number(boot), segment: Number(segment) };
  return Object.assign(one, { boot: first.boot, segment: first.segment, last: one.seals?.at(-1)?.digest });
}

/** The verdict of one path: a file by itself, or a folder with its chain and its ledger. */
function verifyPath(path, options) {
  const isFolder = statSync(path).isDirectory(), ledgerPath = join(path, "ledger.jsonl");
  const segments = (isFolder ? filesIn(path) : [[path]]).map((file) => readSegment(file, options));
  segments.sort((one, other) => one.boot - other.boot || one.segment - other.segment);
  const ledger = readLedger(isFolder && existsSync(ledgerPath) ? readFileSync(ledgerPath) : Buffer.alloc(0));
  const told = [...segments], blame = (one, verdict, what) => {
    if (!told.includes(one)) told.push(Object.assign(one, { verdict, reasons: [], records: 0 }));
    one.verdict = worst([one.verdict, verdict]);
    one.reasons.push({ what });
  };
  if (ledger.fault !== undefined) blame(ledger, "tampered", ledger.fault);
  const sealed = segments.filter((one) => one.seals?.length > 0), first = sealed[0]?.seals[0];
  const isVouched = ledger.lines.some((line) => line.public_key === (options.key ?? line.public_key));
  const keys = isVouched ? ledger.keys : [options.key ?? first?.public_key];
  if (ledger.lines.length > 0 && !isVouched) blame(ledger, "tampered", "the key that was given signed none of its lines");
  const unit = (ledger.lines[0] ?? first)?.unit;
  for (const one of sealed) {
    if (!keys.includes(one.seals[0].public_key)) blame(one, "tampered", `was sealed with another key, ${fingerprint(one.seals[0].public_key)}`);
    if (one.seals[0].unit !== unit) blame(one, "tampered", `is of another unit, ${one.seals[0].unit}`);
  }
  if (isFolder) holdFolder(segments, ledger, blame);
  if (told.length === 0) blame({ name: basename(path) }, "unreadable", "holds no segment");
  return {
    verdict: worst(told.map((one) => one.verdict)), path, unit, key: keys[0] && fingerprint(options.key ?? keys[0]),
    segments: told.map((one) => ({ name: one.name, verdict: one.verdict, seals: one.seals?.length ?? 0, records: one.records })),
    reasons: told.flatMap((one) => one.reasons.map((reason) => ({ segment: one.name, ...reason }))),
  };
}
/** A public key as 64 hex digits, or in a file as those, as PEM, or in an archive's unit.json. */
function readKey(word) {
  const given = existsSync(word) ? readFileSync(word, "utf8").trim() : word;
  if (/^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase();
  if (given.startsWith("{")) return parsed(given).public_key;
  return Buffer.from(createPublicKey(given).export({ format: "jwk" }).x, "base64url").toString("hex");
}

function main() {
  const flags = { json: { type: "boolean" }, key: { type: "string" }, zstd: { type: "string" } };
  const { values, positionals: paths } = parseArgs({ options: flags, allowPositionals: true });
  const absent = paths.find((path) => !existsSync(path));
  if (absent ?? paths.length === 0) throw new WrongUse(absent ? `${absent}: is not there` : "give a PATH");
  const options = { ...values, key: values.key && readKey(values.key) };
  const told = paths.map((path) => verifyPath(path, options));
  for (const one of told) {
    if (options.json) { console.log(JSON.stringify(one)); continue; }
    for (const { name, verdict } of one.segments) console.log(`${verdict.padEnd(10)}  ${name}`);
    for (const { segment, offset, what } of one.reasons) console.log(`  ${segment}${offset === undefined ? "" : `, byte ${offset}`}: ${what}`);
    console.log(`${one.verdict}: ${one.path}`);
  }
  return told.every((one) => ["whole", "power-cut"].includes(one.verdict)) ? 0 : 1;
}

try { process.exitCode = main(); } catch (fault) {
  if (!(fault instanceof WrongUse || fault.code?.startsWith("ERR_PARSE_ARGS"))) throw fault;
  console.error(`${fault.message}\nusage: node verify.mjs [--key HEX|FILE] [--zstd PROGRAM] [--json] PATH...`);
  process.exitCode = 2;
}
