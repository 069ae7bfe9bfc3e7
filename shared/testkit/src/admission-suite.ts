import {
  type AdmissionAnswer,
  type AdmissionRequest,
  type AdmissionService,
  type Attributes,
  objectKey,
  type StorageService,
} from '@orch/core/contracts'
import { namesOf, subdomainLabel } from '@orch/core/names'
import { describe, expect, test, vi } from 'vitest'
import { aPut, written } from './storage-suite.ts'

/** A storage service and the admission service over it, with the plugins that are on by default. */
export interface AdmissionSuiteServices {
  readonly storage: StorageService
  readonly admission: AdmissionService
}

/** Events arrive in milliseconds, on a busy machine in seconds. */
const within = { timeout: 90_000 }

/** Attributes for the creation of a ConfigMap, with some replaced. */
export function someAttributes(rest: Partial<Attributes> = {}): Attributes {
  const place = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', subresource: '', namespace: 'team', name: 'a' }
  const user = { name: 'änn', uid: 'u', groups: ['devs'], extra: { 'example.com/scopes': ['read', 'write'] } }
  return {
    ...place,
    operation: 'CREATE',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'team' }, data: { ü: '☃' } },
    oldObject: undefined,
    options: {},
    user,
    dryRun: false,
    requestId: 'r1',
    writeId: 'w1',
    ...rest,
  }
}

/** The first question about an object, in the mutating phase. */
function aQuestion(rest: Partial<Attributes> = {}, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return { phase: 'mutate', attributes: someAttributes(rest), decisions: [], resumeAt: '', explain: false, ...more }
}

const nodePlace = { kind: 'Node', resource: 'nodes', namespace: '', name: 'n' }
// In the gateway's form: with the fields that are always printed.
const node = () => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: {} })

const conditionsOf = (answer: AdmissionAnswer) => (answer.kind === 'allowed' ? answer.conditions : undefined)

/** The contract of the admission service, for any transport between it and its callers. `open` gives services without objects. */
export function admissionSuite(name: string, open: () => Promise<{ services: AdmissionSuiteServices; close: () => Promise<void> }>): void {
  const withServices = (body: (services: AdmissionSuiteServices) => Promise<void>) => async () => {
    const { services, close } = await open()
    try {
      await body(services)
    } finally {
      await close()
    }
  }
  const putNamespace = (storage: StorageService, namespace: string): Promise<number> => {
    const resource = 'core/namespaces'
    return written(
      storage,
      aPut(
        { resource, kind: 'Namespace', name: namespace, members: { spec: {}, status: {} } },
        { key: objectKey(resource, undefined, namespace) },
      ),
    )
  }

  describe(`admission: ${name}`, () => {
    test(
      'CARD-15: an unchanged object is allowed without an object in the answer, and on condition that its namespace is unchanged',
      withServices(async ({ storage, admission }) => {
        const revision = await putNamespace(storage, 'team')
        const answer = await admission.admit(aQuestion())
        expect(answer).toMatchObject({ kind: 'allowed', warnings: [], reservations: [] })
        expect(answer.kind === 'allowed' && answer.object).toBeUndefined()
        expect(conditionsOf(answer)).toEqual([{ key: 'core/namespaces/team', revision }])
      }),
    )

    test(
      'a denial has the complete Status',
      withServices(async ({ admission }) => {
        expect(await admission.admit(aQuestion({ namespace: 'absent' }))).toMatchObject({
          kind: 'denied',
          status: {
            kind: 'Status',
            code: 404,
            reason: 'NotFound',
            message: 'namespaces "absent" not found',
            details: { name: 'absent', kind: 'namespaces' },
          },
        })
      }),
    )

    test(
      'a changed object is returned completely, the input is unchanged, and the steps list each plugin’s changes on request',
      withServices(async ({ admission }) => {
        const given = node()
        const answer = await admission.admit(aQuestion({ ...nodePlace, object: given }, { explain: true }))
        const taints = [{ key: subdomainLabel(namesOf('orch'), 'node', 'not-ready'), effect: 'NoSchedule' }]
        expect(answer).toMatchObject({ kind: 'allowed', object: { metadata: { name: 'n' }, spec: { taints } } })
        expect(given).toEqual(node())
        const step = answer.steps.find(({ plugin }) => plugin === 'TaintNodesByCondition')
        expect(step).toMatchObject({ webhook: '', isRejected: false, round: 0, patch: [{ op: 'add', path: '/spec/taints' }] })
        expect(step?.durationMs).toEqual(expect.any(Number))
      }),
    )

    test(
      'mutating admission includes the validation if all validating plugins decide at once',
      withServices(async ({ storage, admission }) => {
        const revision = await putNamespace(storage, 'team')
        const resource = 'core/serviceaccounts'
        await written(storage, aPut({ resource, kind: 'ServiceAccount', name: 'default' }, { key: objectKey(resource, 'team', 'default') }))
        const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
        const place = { kind: 'Pod', resource: 'pods' }
        const validated = await vi.waitFor(async () => {
          const answer = await admission.admit(aQuestion({ ...place, object }))
          // Objects that are not in memory are read from storage, which takes a while.
          expect(answer).toMatchObject({ kind: 'allowed', validated: expect.anything() })
          const { object: left, validated } = answer as AdmissionAnswer & { kind: 'allowed' }
          const asked = await admission.admit(aQuestion({ ...place, object: left }, { phase: 'validate' }))
          return [validated, asked] as const
        }, within)
        const auditAnnotations = [{ value: 'privileged:latest', level: 'Metadata' }]
        const steps = ['ServiceAccount', 'PodSecurity', 'RuntimeClass'].map((plugin) => ({ plugin, webhook: '', isRejected: false }))
        const counts = [{ name: 'pod_security_evaluations_total', labels: { decision: 'allow', request_operation: 'create' }, value: 1 }]
        const conditions = [{ key: 'core/namespaces/team', revision }]
        for (const one of validated) expect(one).toMatchObject({ conditions, auditAnnotations, warnings: [], counts })
        expect(validated[0]?.steps).toMatchObject(steps)
        // The order of errors is that of kube-apiserver: an invalid object first reports its other errors.
        const spec = { ...object.spec, serviceAccountName: 'absent' }
        expect(await admission.admit(aQuestion({ ...place, object: { ...object, spec } }, { phase: 'validate' }))).toMatchObject({
          kind: 'denied',
        })
      }),
    )

    test(
      'many parallel requests each get their own answer',
      withServices(async ({ storage, admission }) => {
        const namespaces = Array.from({ length: 20 }, (_, index) => `team-${index}`)
        const revisions = await Promise.all(namespaces.map((namespace) => putNamespace(storage, namespace)))
        const asked = Array.from({ length: 400 }, (_, index) => index % namespaces.length)
        const answers = await Promise.all(
          asked.map((index) => admission.admit(aQuestion({ namespace: namespaces[index] ?? '', writeId: `w${index}` }))),
        )
        expect(answers.map((answer) => conditionsOf(answer)?.[0]?.revision)).toEqual(asked.map((index) => revisions[index]))
      }),
    )

    test(
      'an unknown phase is a bad request that names it',
      withServices(async ({ admission }) => {
        await expect(admission.admit(aQuestion({}, { phase: 'guess' }))).rejects.toMatchObject({
          code: 400,
          reason: 'BadRequest',
          message: 'phase: expected mutate or validate, got "guess"',
        })
      }),
    )

    test(
      'the outcome of a write may be reported twice, and without a reservation',
      withServices(async ({ admission }) => {
        const outcome = { writeId: 'w1', reservations: ['core/resourcequotas/team/absent'], isCommitted: true, revision: 7 }
        expect(await admission.outcome(outcome)).toEqual({})
        expect(await admission.outcome(outcome)).toEqual({})
      }),
    )

    test(
      'admission rules arrive at once and complete, with their sources and revision, and are renewed',
      withServices(async ({ storage, admission }) => {
        const last = await putNamespace(storage, 'team')
        const parts = admission.admissionRules({})
        const seen: { admissionRules: readonly unknown[]; sources: readonly unknown[]; revision: number }[] = []
        for await (const { kind, ...part } of parts) {
          expect(kind).toBe('admissionRules')
          const before = seen.at(-1)
          seen.push(part)
          // Plugins that have read their sources may need fewer questions than at first; then the rules change no more.
          if (before !== undefined && JSON.stringify(before.admissionRules) === JSON.stringify(part.admissionRules)) break
        }
        const revisions = seen.map(({ revision }) => revision)
        expect(revisions[0]).toBeGreaterThanOrEqual(last)
        expect(revisions).toEqual(revisions.toSorted((one, other) => one - other))
        const admissionRule = { phase: expect.any(String), operations: expect.any(Array), groups: expect.any(Array) }
        for (const { admissionRules } of seen) expect(admissionRules).toContainEqual(expect.objectContaining(admissionRule))
      }),
    )
  })
}
