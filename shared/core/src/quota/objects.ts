import type { BuiltIn, TypeName } from '../schema/built-in.ts'

/** A value whose members may be absent, as in an object before it has defaults. */
type Loose<T> = T extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { readonly [K in keyof T]?: Loose<T[K]> }
    : T

type LooseObject<Name extends TypeName> = Omit<Loose<BuiltIn<Name>>, 'kind' | 'apiVersion'>

/** The objects that quotas count, and their parts. */
export type PodToCount = LooseObject<'core/v1.Pod'>
export type ContainerToCount = Loose<BuiltIn<'core/v1.Container'>>
export type ResourcesToCount = Loose<BuiltIn<'core/v1.ResourceRequirements'>>
export type PodAffinityToCount = Loose<BuiltIn<'core/v1.PodAffinity'>>
export type ServiceToCount = LooseObject<'core/v1.Service'>
export type ClaimToCount = LooseObject<'core/v1.PersistentVolumeClaim'>

/** The parts of a ResourceClaim that quotas read. */
export interface DeviceClaimToCount {
  readonly spec?: {
    readonly devices?: {
      readonly requests?:
        | readonly (DeviceRequestToCount & {
            readonly exactly?: DeviceRequestToCount | null
            readonly firstAvailable?: readonly DeviceRequestToCount[] | null
          })[]
        | null
    }
  }
}

/** A request for devices of one class; in v1beta1 it is flat. */
export type DeviceRequestToCount = Loose<BuiltIn<'resource/v1.ExactDeviceRequest'>>
