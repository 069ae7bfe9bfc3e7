import { expect, test } from 'vitest'
import { gatesByDefault } from '../feature-gates.ts'
import { printFieldError } from '../meta/status.ts'
import { namesOf } from '../names.ts'
import type { Part } from './part.ts'
import { type PartRule, RuleBook, type TypeRules, within } from './rule-book.ts'

interface Given {
  readonly type: string
  readonly steps?: TypeRules
  readonly live?: Part
  readonly level?: number
  readonly isGateOn?: (name: string) => boolean
}

/** The errors of a part of a type, using these steps. */
function problemsOf(part: Part, { type, steps, live, level = 25, isGateOn = gatesByDefault }: Given): string[] {
  const rules = new RuleBook(level, steps === undefined ? {} : { [type]: steps })
  const errors: Parameters<PartRule>[0] = []
  const declared: typeof errors = []
  rules.of(type)(errors, part, '', { body: part, object: part, live, names: namesOf('orch'), isGateOn, level, rules, declared })
  return [...errors, ...declared].map((error) => printFieldError(error, level))
}

const port = { containerPort: 80, protocol: 'TCP' }

test('fields that are required, have bounds or an enum are reported in the order of the description', () => {
  expect(problemsOf({ hostPort: -1, containerPort: 0, protocol: 'X' }, { type: 'core/v1.ContainerPort' })).toEqual([
    'hostPort: Invalid value: -1: must be between 1 and 65535, inclusive',
    'containerPort: Required value',
    'protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ])
})

test('steps set the order of causes, and other causes are at the star or at the end', () => {
  const part = { hostPort: -1, containerPort: 0 }
  const fieldsOf = (...steps: TypeRules) => problemsOf(part, { type: 'core/v1.ContainerPort', steps }).map((text) => text.split(':')[0])
  expect(fieldsOf('protocol')).toEqual(['protocol', 'hostPort', 'containerPort'])
  expect(fieldsOf('*', 'hostPort')).toEqual(['containerPort', 'protocol', 'hostPort'])
  expect(fieldsOf({ passedOver: ['hostPort'] })).toEqual(['containerPort', 'protocol'])
  expect(fieldsOf({ decisive: 'containerPort' }, 'hostPort')).toEqual(['containerPort'])
})

test('a step may have levels and a gate', () => {
  const step: PartRule = (errors, _part, at) => void errors.push({ reason: 'FieldValueInvalid', field: `${at}x`, message: 'no' })
  const given = (level: number, isOn: boolean) =>
    problemsOf(port, { type: 'core/v1.ContainerPort', steps: [{ since: 30, until: 31, gate: 'G', step }], level, isGateOn: () => isOn })
  expect([given(29, true), given(30, true), given(31, false), given(32, true)]).toEqual([[], ['x: no'], [], []])
})

test('one field of a choice is validated, further fields are refused, and an empty choice is an error of the part', () => {
  const steps: TypeRules = [{ oneOf: ['exec', 'httpGet'], none: 'one', many: 'only one' }]
  const given = (part: Part) => problemsOf(part, { type: 'core/v1.ProbeHandler', steps })
  expect(given({ exec: { command: [] }, httpGet: {} })).toEqual(['exec.command: Required value', 'httpGet: Forbidden: only one'])
  expect(given({})).toEqual([': Required value: one'])
})

test('items of a list are unique by a key, unless the key itself is invalid', () => {
  const ports = ['a', 'a', '-', '-'].map((name) => ({ ...port, name }))
  const steps: TypeRules = ['ports', { passedOver: ['name', 'image', 'terminationMessagePolicy', 'imagePullPolicy'] }]
  const fields = problemsOf({ ports }, { type: 'core/v1.Container', steps }).map((text) => text.split(':').slice(0, 2).join(':'))
  expect(new Set(fields)).toEqual(
    new Set(['ports[1].name: Duplicate value', 'ports[2].name: Invalid value', 'ports[3].name: Invalid value']),
  )
})

test('items after two thousand errors are not checked, as a message shows fewer', () => {
  const ports = Array.from({ length: 30_000 }, () => ({ ...port, containerPort: -1 }))
  const problems = problemsOf({ name: 'a', image: 'b', ports }, { type: 'core/v1.Container' })
  const ofPorts = problems.filter((text) => text.startsWith('ports'))
  expect(ofPorts).toHaveLength(2_000)
  expect(ofPorts.at(-1)).toContain('ports[1999].containerPort: Invalid value: -1')
  const subjects = Array.from({ length: 30_000 }, () => ({ kind: 'Group' }))
  expect(problemsOf({ subjects }, { type: 'rbac/v1.RoleBinding', level: 37 }).length).toBeLessThan(2_010)
})

test('an immutable field is compared with that of the previous object', () => {
  const given = (handler: string, live?: Part) => problemsOf({ handler }, { type: 'node/v1.RuntimeClass', ...(live && { live }) })
  expect([given('a'), given('a', { handler: 'a' })]).toEqual([[], []])
  expect(given('a', { handler: 'b' })).toEqual(['handler: Invalid value: "a": field is immutable'])
})

test('a part may have other steps in one place', () => {
  const steps: TypeRules = [within('os', 'name')]
  expect(problemsOf({ os: {} }, { type: 'core/v1.PodSpec', steps }).slice(0, 1)).toEqual(['os.name: Required value'])
})
