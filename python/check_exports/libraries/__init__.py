"""What each library makes of an exported folder. Every module has `understood(folder, out)`: it loads the files of `folder`
with the library's own classes, and writes into `out` what those hold, defaults included, in a form the library takes too."""
