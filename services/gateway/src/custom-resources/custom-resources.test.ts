import { describe, expect, test } from 'vitest'
import { specBytes } from './custom-resources.ts'

const metadata = '"metadata":{"name":"a"}'
const status = { conditions: [{ type: 'Established', status: 'True' }] }
const statusMember = `"status":${JSON.stringify(status)}`
const spec = `{"group":"example.com","status":{"a":1},"words":"},${'"status":{}'.replaceAll('"', '\\"')}"}`

function found(text: string): string {
  const value = Buffer.from(text)
  return Buffer.from(specBytes(JSON.parse(text), { value, metadataEnd: text.indexOf(metadata) + metadata.length })).toString()
}

describe('the spec of a stored object', () => {
  test.each([
    ['behind the metadata and before the status', `{"kind":"A",${metadata},"spec":${spec},${statusMember}}`],
    ['last, without a status', `{"kind":"A",${metadata},"spec":${spec}}`],
    ['last, behind the status', `{"kind":"A",${metadata},${statusMember},"spec":${spec}}`],
    ['before the metadata', `{"kind":"A","spec":${spec},${metadata},${statusMember}}`],
    ['before a member that is not known', `{"kind":"A",${metadata},"spec":${spec},"more":1,${statusMember}}`],
    ['before a status that is written in other words', `{"kind":"A",${metadata},"spec":${spec},"status": {"a":1.0}}`],
  ])('%s', (_, text) => {
    expect(found(text)).toBe(spec)
  })

  test('that has none is refused', () => {
    expect(() => found(`{"kind":"A",${metadata}}`)).toThrow('a stored definition has no spec')
  })
})
