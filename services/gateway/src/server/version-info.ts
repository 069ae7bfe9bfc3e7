/** The contents of `/version`. */
export interface VersionInfo {
  readonly major: string
  readonly minor: string
  /** The emulated release, and the oldest release that can read the stored objects; absent before 1.32. */
  readonly emulationMajor?: string
  readonly emulationMinor?: string
  readonly minCompatibilityMajor?: string
  readonly minCompatibilityMinor?: string
  readonly gitVersion: string
  readonly gitCommit: string
  readonly gitTreeState: string
  readonly buildDate: string
  readonly goVersion: string
  readonly compiler: string
  readonly platform: string
}
