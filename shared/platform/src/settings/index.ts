/** Settings: declared once, read from flags, environment and file. */
export * from './file.ts'
export * from './flag-word.ts'
export * from './help.ts'
export * from './nearest.ts'
export * from './setting.ts'
export * as settingTypes from './types.ts'
export { addressAt, type Cidr, type CidrPair, cidr, isUsable, type PortRange, type SettingType, usualAddress } from './types.ts'
