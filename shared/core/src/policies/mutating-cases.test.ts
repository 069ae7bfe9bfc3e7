import { readFileSync } from 'node:fs'
import { jsonOf } from '@orch/cel/values'
import { describe, expect, test } from 'vitest'
import { createCatalogue, type Resource } from '../catalogue/index.ts'
import { runAtOnce } from '../steps.ts'
import { PolicyEvaluation, type PolicyInput, policyCostMax } from './evaluation.ts'
import { PolicyLanguage } from './language.ts'
import { compileMutatingPolicy, mutateBy } from './mutating.ts'
import type { MutatingPolicySpec, MutationSpec } from './spec.ts'

interface MutationCase {
  readonly name: string
  readonly expression?: string
  readonly policy?: {
    readonly spec: Omit<MutatingPolicySpec, 'mutations'> & {
      readonly mutations: readonly (MutationSpec & { readonly jSONPatch?: MutationSpec['jsonPatch'] })[]
    }
  }
  readonly gvr: { readonly group: string; readonly version: string; readonly resource: string }
  readonly object: unknown
  readonly oldObject?: unknown
  readonly params?: unknown
  readonly namespace?: unknown
  readonly expectedResult?: unknown
  readonly expectedErr?: string
}

/** The lines of a file; `cases/README.md` describes them. */
function linesOf(file: string): string[] {
  return readFileSync(new URL(`./cases/mutation-${file}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
}

function casesOf(file: string): [string, MutationCase][] {
  return (
    linesOf(file)
      // Upstream computes this resource name.
      .map((line) => JSON.parse(line.replaceAll('$call corev1.ResourceName', 'cpu')) as MutationCase)
      .map((one) => [one.name, one])
  )
}

const catalogue = createCatalogue('kubernetes')

function kindOf({ gvr: { group, version, resource } }: MutationCase): Resource {
  const found = catalogue.find(group, version, resource)
  if (found === undefined) throw new Error(`no resource ${resource}`)
  return found
}

/** A decoded object, with the parts that every object has. */
function decoded({ readers }: Resource, value: unknown): { readonly object: unknown; readonly problems: readonly string[] } {
  const read = readers.decode(value, { trackUnknown: true })
  if (read.kind === 'mismatch') return { object: value, problems: [read.message] }
  return { object: read.object, problems: read.unknownFields.map((path) => `unknown field "${path}"`) }
}

/** The request of a case, which creates an object. */
function requestFor(resource: MutationCase['gvr'], kind: string): PolicyInput['request'] {
  const { group, version } = resource
  return {
    kind: { group, version, kind },
    resource,
    subResource: '',
    requestKind: { group, version, kind },
    requestResource: resource,
    requestSubResource: '',
    name: '',
    namespace: '',
    operation: 'CREATE',
    userInfo: { username: '', uid: '', groups: [], extra: {} },
    dryRun: false,
    options: null,
  }
}

const authorize = () => ({ isAllowed: true, reason: '' })

/** The result of a policy for a case's object, with fields in order. */
function mutated(one: MutationCase, spec: MutatingPolicySpec) {
  const described = kindOf(one)
  const request = requestFor(one.gvr, described.kind)
  const { params, namespace: namespaceObject } = one
  const typed = (value: unknown) => (value === undefined ? undefined : decoded(described, value).object)
  const [object, oldObject] = [typed(one.object), typed(one.oldObject)]
  const input = { object, oldObject, params, namespaceObject, request, authorize }
  const kind = { shape: described.readers.shape, problemsOf: (value: unknown) => decoded(described, value).problems }
  const outcome = runAtOnce(mutateBy(compileMutatingPolicy(spec), input, kind))
  if (outcome.kind !== 'object') return outcome
  const message = outcome.changes.find(({ failure }) => failure !== undefined)?.failure
  return message === undefined ? { kind: 'object', object: decoded(described, outcome.object).object } : { kind: 'failed', message }
}

function check(one: MutationCase, spec: MutatingPolicySpec): void {
  const outcome = mutated(one, spec)
  if (one.expectedErr !== undefined) expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining(one.expectedErr) })
  else expect(outcome).toEqual({ kind: 'object', object: decoded(kindOf(one), withoutVolumeSource(one.expectedResult)).object })
}

/** Removes Go's separate struct for a volume's source, which JSON lacks. */
function withoutVolumeSource(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutVolumeSource)
  if (typeof value !== 'object' || value === null) return value
  const { volumeSource, ...rest } = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries({ ...rest, ...(volumeSource as object | undefined) }).map(([name, inner]) => [name, withoutVolumeSource(inner)]),
  )
}

interface TypeCase {
  readonly name: string
  readonly expression: string
  readonly expectedValue?: unknown
  readonly expectCompileError?: string
}

/** Renames the value of an operation, which is `val` in Go's type. */
function asJsonPatch(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('val' in value)) return value
  const { val, ...rest } = value
  return { ...rest, value: val }
}

describe('VAP-38, VAP-39: cases of the types Object and JSONPatch', () => {
  const language = new PolicyLanguage({ hasParams: false, hasAuthorizer: false, isMutating: true }, 37)
  test.each(linesOf('types').map((line) => JSON.parse(line) as TypeCase))(
    'end as recorded from kube-apiserver: $name',
    ({ expression, expectedValue, expectCompileError }) => {
      const compiled = language.compile(expression)
      if (expectCompileError !== undefined) {
        expect(compiled).toMatchObject({ kind: 'malformed', problem: expect.stringContaining(expectCompileError) })
        return
      }
      const request = requestFor({ group: '', version: 'v1', resource: 'pods' }, 'Pod')
      const input = { object: null, oldObject: null, params: null, namespaceObject: null, request, authorize }
      const outcome = new PolicyEvaluation(input, [], policyCostMax).evaluate(compiled)
      expect(outcome.kind === 'value' ? jsonOf(outcome.value) : outcome).toEqual(asJsonPatch(expectedValue))
    },
  )
})

describe('VAP-38: cases of apply configurations', () => {
  test.each(casesOf('apply-configuration'))('end as recorded from kube-apiserver: %s', (_name, one) => {
    check(one, { mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: one.expression ?? '' } }] })
  })
})

describe('VAP-39: cases of JSON patches', () => {
  test.each(casesOf('json-patch'))('end as recorded from kube-apiserver: %s', (_name, one) => {
    check(one, { mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: one.expression ?? '' } }] })
  })
})

describe('VAP-37, VAP-40: cases of whole policies', () => {
  test.each(casesOf('compile'))('end as recorded from kube-apiserver: %s', (_name, one) => {
    const { mutations = [], ...spec } = one.policy?.spec ?? { mutations: [] }
    const named = mutations.map(({ jSONPatch, ...rest }) => ({ ...rest, ...(jSONPatch === undefined ? {} : { jsonPatch: jSONPatch }) }))
    check(one, { ...spec, mutations: named })
  })
})
