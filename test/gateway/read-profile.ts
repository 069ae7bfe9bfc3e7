import { Profile } from 'pprof-format'

/** Decodes a pprof profile into its strings and numbers. */
export function readProfile(bytes: Uint8Array) {
  const profile = Profile.decode(bytes)
  const text = (index: number | bigint): string => profile.stringTable.strings[Number(index)] ?? ''
  const typeOf = ({ type, unit }: { type: number | bigint; unit: number | bigint }): string => `${text(type)}/${text(unit)}`
  const functions = new Map(profile.function.map((one) => [Number(one.id), `${text(one.name)} ${text(one.filename)}`]))
  const locations = new Map(
    profile.location.map(({ id, line: [line] }) => [Number(id), `${functions.get(Number(line?.functionId))}:${Number(line?.line)}`]),
  )
  return {
    sampleTypes: profile.sampleType.map(typeOf),
    periodType: profile.periodType === undefined ? '' : typeOf(profile.periodType),
    period: Number(profile.period),
    timeNanos: Number(profile.timeNanos),
    durationNanos: Number(profile.durationNanos),
    samples: profile.sample.map(({ locationId, value }) => ({
      stack: locationId.map((id) => locations.get(Number(id))),
      values: value.map(Number),
    })),
  }
}
