import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { anApi, type Body } from '../api/api.ts'

/** Requests about one Service, or further ones, and the answers of kube-apiserver with ranges of both families. */
interface Story {
  readonly name: string
  readonly release: string
  /** The family of the first range. */
  readonly first: string
  readonly steps: readonly Step[]
}

interface Step extends Outcome {
  /** The spec of a new Service. */
  readonly create?: object
  /** A merge patch of the spec of the first one. */
  readonly patch?: object
}

interface Outcome {
  readonly code: number
  readonly spec?: object
  readonly message?: string
}

const stories = readFileSync(new URL('families.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Story => JSON.parse(line))

const path = '/api/v1/namespaces/default/services'
const compared = ['type', 'clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']

test.each([
  ['1.37', 'IPv4', '10.96.0.0/16,fd00:1::/108'],
  ['1.37', 'IPv6', 'fd00:1::/108,10.96.0.0/16'],
  ['1.25', 'IPv4', '10.96.0.0/16,fd00:1::/108'],
])('at %s Services of two families, %s first, are answered as by kube-apiserver', async (release, first, serviceClusterIpRange) => {
  const api = await anApi({ version: release, profile: 'kubernetes', controllers: [], serviceClusterIpRange })
  const told = stories.filter((story) => story.release === release && story.first === first)
  expect(told.length).toBeGreaterThan(15)
  for (const { name, steps } of told) {
    const made: string[] = []
    const answers: Step[] = []
    for (const [index, { create, patch }] of steps.entries()) {
      const own = create === undefined || index === 0 ? name : `${name}-${index}`
      if (create !== undefined) made.push(own)
      const { status, body } =
        create === undefined
          ? await api.patch(`${path}/${own}`, { spec: patch })
          : await api.post(path, { apiVersion: 'v1', kind: 'Service', metadata: { name: own }, spec: create })
      answers.push({ ...(create && { create }), ...(patch && { patch }), ...outcomeOf(status, body, JSON.stringify(steps)) })
    }
    for (const own of made) await api.delete(`${path}/${own}`)
    expect({ name, steps: answers }).toEqual({ name, steps })
  }
})

function outcomeOf(code: number, { spec, message }: Body, known: string): Outcome {
  const blank = (text: string) =>
    text.replaceAll(/(?<=")(?:10|fd00)[.:][0-9a-f.:]*(?=\\?")/g, (address) => {
      if (known.includes(`"${address}"`)) return address
      return address.includes(':') ? '<IPv6>' : '<IPv4>'
    })
  if (code >= 300) return { code, message: blank(String(message)) }
  const shown = Object.entries(Object(spec)).filter(([member]) => compared.includes(member))
  return { code, spec: JSON.parse(blank(JSON.stringify(Object.fromEntries(shown)))) }
}
