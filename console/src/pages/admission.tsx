import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, ask, groupNamed } from '../api.ts'
import { type Kind, keyOfKind } from '../paths.ts'
import { repeat } from '../repeat.ts'
import { linkTo, route } from '../route.ts'
import { type Column, Table } from '../table.tsx'
import { messageOf } from '../text.ts'
import { kinds } from '../world.ts'

interface Called {
  readonly name: string
  readonly phase: string
  readonly calls: number
  readonly refused: number
  readonly seconds: number
  /** Ignored failures of a webhook. */
  readonly ignored?: number
}

interface Policy {
  readonly name: string
  readonly binding: string
  /** `mutate` for a mutating policy. */
  readonly action: string
  readonly error: string
  readonly calls: number
  readonly seconds: number
}

/** Statistics of admission in the format of the server. */
interface Account {
  readonly plugins: readonly Called[]
  readonly webhooks: readonly Called[]
  readonly policies: readonly Policy[]
}

/** Calls, costs and refusals of plugins, policies and webhooks since the start of the server. */
export function AdmissionAccount() {
  const account = useSignal<Account | undefined>(undefined)
  const problem = useSignal('')
  useEffect(
    () =>
      repeat(
        () => ask<Account>('/orch/v1/admission'),
        (found) => (account.value = found),
        (error) => {
          const isForbidden = error instanceof ApiError && error.code === 403
          problem.value = isForbidden ? 'The account of admission is forbidden to you.' : messageOf(error)
        },
      ),
    [],
  )
  const { value: shown } = account
  if (problem.value !== '') return <p class="dim">{problem.value}</p>
  if (shown === undefined) return <p class="dim">Reading the account of admission …</p>
  const filter = (route.value.query.get('filter') ?? '').toLowerCase()
  const named = <Row extends { readonly name: string }>(rows: readonly Row[]) =>
    rows.filter(({ name }) => name.toLowerCase().includes(filter))
  return (
    <>
      <h2>Policies</h2>
      <p class="dim">
        Since the start of the server. Refused requests with their reasons: <RefusedWith code="403" /> forbidden, <RefusedWith code="422" />{' '}
        invalid, <RefusedWith code="500" /> failed webhooks.
      </p>
      <Table
        label="Policies"
        columns={policyColumns}
        rows={named(shown.policies)}
        keyOf={({ name, binding, action, error }) => `${name} ${binding} ${action} ${error}`}
        empty="No policy has been asked."
      />
      <h2>Webhooks</h2>
      <Table
        label="Webhooks"
        columns={[
          ...calledColumns,
          { title: 'Failures ignored', cell: ({ ignored = 0 }) => ignored, isNumber: true, isMinor: true, width: 16 },
        ]}
        rows={named(shown.webhooks)}
        keyOf={keyOfCalled}
        empty="No webhook has been called."
      />
      <h2>Plugins</h2>
      <Table label="Plugins" columns={calledColumns} rows={named(shown.plugins)} keyOf={keyOfCalled} empty="No plugin has been asked." />
    </>
  )
}

function RefusedWith({ code }: { readonly code: string }) {
  return <a href={linkTo('requests', { filter: code })}>{code}</a>
}

function keyOfCalled({ name, phase }: Called): string {
  return `${name} ${phase}`
}

const calledColumns: readonly Column<Called>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Phase', cell: ({ phase }) => phase, width: 10, isMinor: true },
  { title: 'Calls', cell: ({ calls }) => calls.toLocaleString('en'), isNumber: true, width: 10 },
  {
    title: 'Refused',
    cell: ({ refused }) => <span class={refused > 0 ? 'bad' : 'dim'}>{refused.toLocaleString('en')}</span>,
    isNumber: true,
    width: 11,
  },
  { title: 'ms each', cell: (row) => msEach(row), isNumber: true, width: 10, isMinor: true },
  { title: 'ms in all', cell: ({ seconds }) => (seconds * 1_000).toFixed(1), isNumber: true, width: 12, isMinor: true },
]

const policyColumns: readonly Column<Policy>[] = [
  { title: 'Policy', cell: ({ name, action }) => <Named resource={`${typeOf(action)}admissionpolicies`} name={name} /> },
  {
    title: 'Binding',
    cell: ({ binding, action }) => <Named resource={`${typeOf(action)}admissionpolicybindings`} name={binding} />,
    isMinor: true,
  },
  { title: 'Phase', cell: ({ action }) => (action === 'mutate' ? 'mutate' : 'validate'), width: 10, isMinor: true },
  {
    title: 'Result',
    cell: ({ action, error }) => (
      <span class={action === 'deny' || error !== '' ? 'bad' : ''}>{error !== '' ? error : action === 'mutate' ? 'made' : action}</span>
    ),
    width: 16,
  },
  { title: 'Checks', cell: ({ calls }) => calls.toLocaleString('en'), isNumber: true, width: 10 },
  { title: 'ms each', cell: (row) => msEach(row), isNumber: true, width: 10, isMinor: true },
]

function typeOf(action: string): string {
  return action === 'mutate' ? 'mutating' : 'validating'
}

function msEach({ seconds, calls }: { readonly seconds: number; readonly calls: number }): string {
  return calls === 0 ? '' : ((seconds * 1_000) / calls).toFixed(3)
}

function Named({ resource, name }: { readonly resource: string; readonly name: string }) {
  const kind: Pick<Kind, 'group' | 'resource'> = { group: groupNamed('admissionregistration'), resource }
  return kinds.value.has(keyOfKind(kind)) ? <a href={linkTo('object', { kind: keyOfKind(kind), name })}>{name}</a> : <span>{name}</span>
}
