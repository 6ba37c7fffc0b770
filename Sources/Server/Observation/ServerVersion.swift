/// Of the whole program.
package let serverVersion = "0.1.0"
