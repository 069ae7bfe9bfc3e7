import type { RequestInfo } from '../request/request-info.ts'
import type { FlowControl } from './flow-control.ts'
import type { Level, Waiting } from './priority-level.ts'

/** The dumps of flow control, by the last path segment. */
export const dumps = ['dump_priority_levels', 'dump_queues', 'dump_requests'] as const
export type Dump = (typeof dumps)[number]

const none = '<none>'

/** A row for each level, queue in use or waiting request, as text in columns: a comma after each cell but the last of a row. */
export function dump(flowControl: FlowControl, which: Dump, hasDetails: boolean): string {
  const levels = flowControl.levels.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  switch (which) {
    case 'dump_priority_levels':
      return inColumns([levelColumns, ...levels.map(levelRow)])
    case 'dump_queues':
      return inColumns([queueColumns, ...levels.flatMap(queueRows)])
    case 'dump_requests':
      return inColumns([
        [...requestColumns, ...(hasDetails ? detailColumns : [])],
        ...levels.flatMap((level) => requestRows(level, hasDetails)),
      ])
  }
}

const levelColumns = [
  'PriorityLevelName',
  'ActiveQueues',
  'IsIdle',
  'IsQuiescing',
  'WaitingRequests',
  'ExecutingRequests',
  'DispatchedRequests',
  'RejectedRequests',
  'TimedoutRequests',
  'CancelledRequests',
]

function levelRow(level: Level): string[] {
  const { name, isExempt, waitingCount, executing, counts } = level
  if (isExempt) return [name, ...levelColumns.slice(1).map(() => none)]
  const active = [...level.queues()].filter(({ waiting }) => waiting.length > 0).length
  const isIdle = waitingCount === 0 && executing === 0
  // A level without its object is not stored: no request waits in it without a seat.
  const cells = [active, isIdle, false, waitingCount, executing, counts.dispatched, counts.rejected, counts['time-out'], counts.cancelled]
  return [name, ...cells.map(String)]
}

const queueColumns = [
  'PriorityLevelName',
  'Index',
  'PendingRequests',
  'ExecutingRequests',
  'SeatsInUse',
  'NextDispatchR',
  'InitialSeatsSum',
  'MaxSeatsSum',
  'TotalWorkSum',
]

function queueRows(level: Level): string[][] {
  if (level.isExempt) return [[level.name, ...queueColumns.slice(1).map(() => none)]]
  return queuesOf(level).map(({ card, waiting, executing, seatsInUse, nextStart }) => {
    const seats = waiting.reduce((sum, one) => sum + one.seats, 0)
    return [
      level.name,
      ...[card, waiting.length, executing, seatsInUse].map(String),
      seconds(nextStart),
      String(seats),
      String(seats),
      seconds(level.workOf(seats)),
    ]
  })
}

function seconds(value: number): string {
  return `${value.toFixed(8)}ss`
}

/** The queues with waiting or executing requests. */
function queuesOf(level: Level) {
  return [...level.queues()].filter(({ waiting, executing }) => waiting.length > 0 || executing > 0).toSorted((a, b) => a.card - b.card)
}

const requestColumns = [
  'PriorityLevelName',
  'FlowSchemaName',
  'QueueIndex',
  'RequestIndexInQueue',
  'FlowDistingsher',
  'ArriveTime',
  'InitialSeats',
  'FinalSeats',
  'AdditionalLatency',
]
const detailColumns = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource']

function requestRows(level: Level, hasDetails: boolean): string[][] {
  return queuesOf(level).flatMap(({ card, waiting }) =>
    waiting.map((one, index) => {
      const { seats, arrivedMs, wish } = one
      const { flow } = wish
      // A flow is its schema's name, and after a slash the user or the namespace.
      const slash = flow.indexOf('/')
      const [schema, distinguisher] = slash < 0 ? [flow, ''] : [flow.slice(0, slash), flow.slice(slash + 1)]
      const cells = [level.name, schema, card, index, distinguisher, new Date(arrivedMs).toISOString(), seats, 0, '0s']
      return [...cells.map(String), ...(hasDetails ? detailsOf(one) : [])]
    }),
  )
}

function detailsOf({ wish: { asked } }: Waiting): string[] {
  if (asked === undefined) return detailColumns.map(() => none)
  const { user, info, path } = asked
  return [user.name, info.verb, path, ...addressOf(info)]
}

function addressOf(info: RequestInfo): string[] {
  return info.kind === 'path' ? ['', '', '', '', ''] : [info.namespace, info.name, info.version, info.resource, info.subresource]
}

/** A cell contains no comma, quote or line break: user names may contain some. */
function inColumns(rows: readonly (readonly string[])[]): string {
  const quoted = rows.map((row) => row.map((cell) => (/[",\n\r]/.test(cell) ? JSON.stringify(cell) : cell)))
  const widths = (quoted[0] ?? []).map((_, column) => Math.max(...quoted.map((row) => row[column]?.length ?? 0)))
  const print = (row: readonly string[]) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : `${cell},`.padEnd((widths[column] ?? 0) + 2))).join('')
  return quoted.map((row) => `${print(row)}\n`).join('')
}
