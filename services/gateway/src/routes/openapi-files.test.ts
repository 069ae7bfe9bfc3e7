import { createHash } from 'node:crypto'
import { createCatalogue } from '@orch/core/catalogue'
import { encodeOpenApi2, openApi2Document, openApi3Document } from '@orch/core/openapi'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { Pace } from '../pace.ts'
import { type OpenApiFile, openApi2Files, openApi3File, openApi3Hashes } from './openapi-files.ts'

const version = 'v1.25.0'

/** Counts the steps that it lets be taken. */
class CountedPace extends Pace {
  turns = 0

  override turn(): Promise<void> {
    this.turns += 1
    return super.turn()
  }
}

/** Each has a catalogue of its own, so that no file has been made before. */
function theParts() {
  const catalogue = createCatalogue('orch')
  return {
    authentication: { issuer: undefined },
    catalogue,
    builtInCatalogue: catalogue,
    clock: createFakeClock(),
    version: { gitVersion: version },
    pace: new CountedPace(),
  }
}

const textOf = ({ bytes }: OpenApiFile): string => Buffer.from(bytes).toString()

test('LIM-12, ADDR-18: the OpenAPI 2 document is made in steps with others in between, once for all who ask', async () => {
  const parts = theParts()
  let others = 0
  let isMade = false
  const other = () => {
    others += 1
    if (!isMade) setImmediate(other)
  }
  setImmediate(other)
  const { json, encoded } = openApi2Files(parts)
  const [first, second, protobuf] = await Promise.all([json(), json(), encoded()])
  isMade = true
  expect(second).toBe(first)
  const { turns } = parts.pace
  expect(turns).toBeGreaterThan(100)
  expect(others).toBeGreaterThan(turns / 2)
  const atOnce = openApi2Document(parts.catalogue, version, { hasIssuer: false })
  expect(textOf(first) === `${JSON.stringify(atOnce)}\n`).toBe(true)
  expect(Buffer.compare(protobuf.bytes, encodeOpenApi2(atOnce))).toBe(0)
  expect(first.hash).toBe(createHash('sha512').update(first.bytes).digest('hex').toUpperCase())
  expect(await openApi2Files(parts).json()).toBe(first)
  expect(parts.pace.turns).toBe(turns)
})

test('LIM-12, ADDR-18: OpenAPI 3 documents are made in steps, once for all who ask, and are those that are made at once', async () => {
  const parts = theParts()
  for (const name of [...(await openApi3Hashes(parts)).keys()]) {
    const [first, second] = await Promise.all([openApi3File(parts, name), openApi3File(parts, name)])
    expect(second).toBe(first)
    const atOnce = openApi3Document(parts.catalogue, { name, serverVersion: version, hasIssuer: false })
    expect(first !== undefined && textOf(first) === `${JSON.stringify(atOnce)}\n`).toBe(true)
  }
  const { turns } = parts.pace
  expect(turns).toBeGreaterThan([...(await openApi3Hashes(parts)).keys()].length * 2)
  await openApi3File(parts, 'api/v1')
  expect(parts.pace.turns).toBe(turns)
  expect(await openApi3File(parts, 'apis/none/v1')).toBeUndefined()
})

test('LIM-12: an OpenAPI document that could not be made is made at the next question', async () => {
  const parts = theParts()
  const { turn } = parts.pace
  parts.pace.turn = () => Promise.reject(new Error('no'))
  await expect(openApi2Files(parts).json()).rejects.toThrow('no')
  await expect(openApi3File(parts, 'api/v1')).rejects.toThrow('no')
  parts.pace.turn = turn
  expect(textOf(await openApi2Files(parts).json())).toContain('"swagger":"2.0"')
  expect((await openApi3File(parts, 'api/v1'))?.hash).toMatch(/^[0-9A-F]{128}$/)
})
