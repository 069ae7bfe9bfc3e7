import type { Link } from './link.ts'
import { impatientMs, patientMs } from './roaming-load.ts'
import type { Service, ServiceSet } from './service-set.ts'

/** One fault of one process or link. */
export interface SingleFault {
  /** `gateway-0>storage-0`, or the name of a process. */
  readonly place: string
  readonly what: string
  /**
   * The longest allowed time without a success for a client that may use any gateway. Absent: no write can succeed during the fault, so the time counts
   * from the end of the fault.
   */
  readonly boundMs: number | undefined
  /** The longest wait of clients for an answer. */
  readonly answerMs: number
  begin(): unknown
  /** Ends the fault; a failure after that is the product's fault. */
  end(): unknown
  /** The links that must carry bytes again. */
  readonly links: readonly Link[]
}

const boundMs = 3_000
const answerMs = patientMs
const quickBoundMs = 1_000
/** The number of consecutive chunks that the link damages; the first chunks of the next connections are among them. */
const damagedChunks = 6
const slowMs = 200
const startMsMax = 60_000

/** One link of each kind, as `caller>callee`. */
const linksWanted = [
  'gateway-0>storage-0',
  'gateway-0>watch-0',
  'gateway-0>admission-0',
  'watch-0>storage-0',
  'admission-0>storage-0',
  'storage-0>etcd',
  'storage-0>nats',
  'watch-0>nats',
]
const services: readonly Service[] = ['gateway', 'storage', 'watch', 'admission']

/** Every fault of the table. */
export function singleFaults(set: ServiceSet): SingleFault[] {
  return [
    ...linksWanted.flatMap((place) => linkFaults(place, set)),
    ...services.flatMap((service) => processFaults(service, set)),
    allStorages(set),
    ...backendFaults(set),
  ]
}

/** The run kills all storages at once. As with etcd, the time counts from their return. */
function allStorages(set: ServiceSet): SingleFault {
  const storages = set.of('storage')
  return {
    place: 'storages',
    what: 'kill',
    boundMs: undefined,
    answerMs,
    begin: () => Promise.all(storages.map((one) => one.kill())),
    async end() {
      for (const one of storages) one.start()
      await Promise.all(storages.map((one) => one.ready(startMsMax)))
    },
    links: [...set.links].filter(([name]) => /^gateway-.*>storage-/.test(name)).map(([, link]) => link),
  }
}

function linkFaults(place: string, { links }: ServiceSet): SingleFault[] {
  const link = links.get(place)
  if (link === undefined) throw new RangeError(`there is no link ${place}`)
  const hear = () => link.hear()
  // A storage that does not lead sends nothing to NATS.
  const common = { place, boundMs, answerMs, links: place === 'storage-0>nats' ? [] : [link] }
  return [
    { ...common, what: 'flipped bytes', begin: () => link.flip(damagedChunks), end: hear },
    { ...common, what: 'reset', begin: () => link.cut(), end: hear },
    { ...common, what: 'silence', begin: () => link.silence(), end: hear },
    { ...common, what: 'half-open', begin: () => link.leaveHalfOpen(), end: hear },
    { ...common, what: '200 ms delay', begin: () => link.delay(slowMs), end: hear },
  ]
}

function processFaults(service: Service, set: ServiceSet): SingleFault[] {
  const [one] = set.of(service)
  if (one === undefined) throw new RangeError(`there is no ${service}`)
  const own = [...set.links].filter(([name]) => name.split('>').includes(one.name)).map(([, link]) => link)
  const common = { place: one.name, answerMs, links: own.filter((link) => link !== set.links.get(`${one.name}>nats`)) }
  const isQuick = service === 'gateway' || service === 'storage'
  return [
    { ...common, what: 'kill', boundMs: isQuick ? quickBoundMs : boundMs, begin: () => one.kill(), end: () => one.start() },
    {
      ...common,
      what: 'stop',
      boundMs,
      answerMs: service === 'gateway' ? impatientMs : answerMs,
      begin: () => one.pause(),
      end: () => one.resume(),
    },
    {
      ...common,
      what: 'cut off',
      boundMs,
      begin() {
        for (const link of own) link.silence()
      },
      end() {
        for (const link of own) link.hear()
      },
    },
  ]
}

function backendFaults({ etcd, nats, links }: ServiceSet): SingleFault[] {
  const of = (name: string) =>
    [...links]
      .filter(([link]) => link.endsWith(`>${name}`) && link !== 'storage-0>nats' && link !== 'storage-1>nats')
      .map(([, link]) => link)
  const programs = [
    { program: etcd, place: 'etcd', bound: undefined },
    { program: nats, place: 'nats', bound: boundMs },
  ]
  return programs.flatMap(({ program, place, bound }) => [
    { place, what: 'kill', boundMs: bound, answerMs, begin: () => program.kill(), end: () => program.start(), links: of(place) },
    { place, what: 'stop', boundMs: bound, answerMs, begin: () => program.pause(), end: () => program.resume(), links: of(place) },
  ])
}
