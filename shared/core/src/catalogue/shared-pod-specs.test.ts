import { describe, expect, test } from 'vitest'
import { freezeDeeply } from '../json/freeze.ts'
import { memberIn } from '../json/member.ts'
import type { ApiObject } from '../meta/object-meta.ts'
import { runAtOnce } from '../steps.ts'
import { createCatalogue } from './catalogue.ts'

const catalogue = createCatalogue('kubernetes')
const { names, isGateOn, level } = catalogue

type Body = Readonly<Record<string, unknown>>

function readersOf(group: string, plural: string) {
  const readers = catalogue.find(group, 'v1', plural)?.readers
  if (readers === undefined) throw new Error(`${plural} are not served`)
  return readers
}

const pods = readersOf('', 'pods')

/** An object as the steps of a write complete it. */
function completed(readers: typeof pods, body: Body): ApiObject {
  const read = readers.decode(body, { trackUnknown: false })
  if (read.kind === 'mismatch') throw new Error(read.message)
  readers.applyDefaults?.(read.object, names, isGateOn)
  const ordered = readers.decode(read.object, { trackUnknown: false, sharesAll: true })
  if (ordered.kind === 'mismatch') throw new Error(ordered.message)
  return ordered.object
}

/** The Pod spec of a stored object of the kind. */
function storedSpec([group, plural, path]: Holder, spec: Body): Body {
  const body = path.split('.').reduceRight<Body>((inner, name) => ({ [name]: inner }), spec)
  const readers = readersOf(group, plural)
  const stored = freezeDeeply(completed(readers, { metadata: { name: 'a' }, ...body }))
  return path.split('.').reduce<unknown>(memberIn, stored) as Body
}

const podOf = (spec: Body, name = 'a'): Body => ({ metadata: { name, namespace: 'n' }, spec })
const copyOf = (spec: Body): Body => structuredClone(spec)

type Holder = readonly [group: string, plural: string, path: string]

const replicaSets: Holder = ['apps', 'replicasets', 'spec.template.spec']
const holders: readonly Holder[] = [
  replicaSets,
  ['', 'pods', 'spec'],
  ['', 'podtemplates', 'template.spec'],
  ['batch', 'jobs', 'spec.template.spec'],
  ['batch', 'cronjobs', 'spec.jobTemplate.spec.template.spec'],
]

const web = { name: 'web', image: 'web:1', resources: { limits: { cpu: '1500m' }, requests: { memory: '1Gi' } } }
const specs: readonly Body[] = [
  { containers: [web] },
  { containers: [{ ...web, ports: [{ containerPort: 80 }] }], hostNetwork: true },
  { containers: [web], terminationGracePeriodSeconds: -5, serviceAccount: 'a', overhead: { cpu: '0.0001' } },
  { containers: [web], enableServiceLinks: false, volumes: [{ name: 'v', emptyDir: {} }], initContainers: [web] },
]

describe.each(holders)('the Pod spec of a stored object in %s %s', (...holder) => {
  test.each(specs)('gives the same Pods and templates as a copy of it: %j', (given) => {
    const spec = storedSpec(holder, given)
    for (const [readers, body] of [
      [pods, podOf],
      [readersOf('apps', 'replicasets'), (template: Body) => ({ metadata: { name: 'b' }, spec: { template: { spec: template } } })],
    ] as const) {
      const [first, second] = [completed(readers, body(spec)), completed(readers, body(spec))]
      expect(JSON.stringify(first)).toBe(JSON.stringify(completed(readers, body(copyOf(spec)))))
      expect(JSON.stringify(second)).toBe(JSON.stringify(first))
    }
  })

  test('is one object in all Pods that are made of it', () => {
    const spec = storedSpec(holder, { containers: [web] })
    expect(completed(pods, podOf(spec))['spec']).toBe(completed(pods, podOf(spec))['spec'])
  })
})

describe('a Pod spec that is shared', () => {
  const faultsOf = (spec: Body, name: string) => {
    const object = completed(pods, podOf(spec, name))
    const candidate = { body: object, object, part: 'main', names, isGateOn, level } as const
    return runAtOnce(pods.validate({ ...candidate, warn: () => {}, isInterrupted: () => false })).map(({ field }) => field)
  }

  test('is refused each time if it is invalid', () => {
    const spec = storedSpec(replicaSets, { containers: [{ ...web, image: '' }] })
    expect([faultsOf(spec, 'a'), faultsOf(spec, 'b')]).toEqual([['spec.containers[0].image'], ['spec.containers[0].image']])
  })

  test('is checked again for each name that names its claims', () => {
    const volumeClaimTemplate = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
    const spec = storedSpec(replicaSets, { containers: [web], volumes: [{ name: 'v'.repeat(60), ephemeral: { volumeClaimTemplate } }] })
    expect([faultsOf(spec, 'a'), faultsOf(spec, 'n'.repeat(250)), faultsOf(spec, 'a')]).toEqual([[], ['spec.volumes[0].name'], []])
  })
})
