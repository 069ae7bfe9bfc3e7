import type { Link } from './link.ts'
import { impatientMs, patientMs } from './roaming-load.ts'
import type { Service, ServiceSet } from './service-set.ts'

/** One fault of one process or link. */
export interface SingleFault {
  /** `gateway-0>storage-0`, or the name of a process. */
  readonly place: string
  readonly what: string
  /** Longest allowed time without a success for a client that may use any gateway. Absent: no write can succeed during the fault, and the time counts from its end. */
  readonly boundMs: number | undefined
  /** Longest wait of clients for an answer. */
  readonly answerMs: number
  begin(): unknown
  /** Ends it: a later fault is the product's. */
  end(): unknown
  /** Links that have to carry something again. */
  readonly links: readonly Link[]
}

const boundMs = 3_000
const answerMs = patientMs
const quickBoundMs = 1_000
/** Chunks that are damaged one after the other: also the first ones of the connections that follow. */
const damagedChunks = 6
const slowMs = 200
const startMsMax = 60_000

/** One of each kind of link, as `caller>callee`. */
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

/** All storages are killed at once: as with etcd, the time counts from when they are back. */
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
  // A storage that does not lead has nothing to say to NATS.
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
